// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package session

import (
	"errors"

	"github.com/clewdev/clew/value"
)

type surroundings struct{}

func (w *walker) surround(*Session) error { return errors.ErrUnsupported }

func (w *walker) leave() {}

func (f *Frame) describeAround() {}

func (f *Frame) infoAround() *value.Info { return nil }
