// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package perf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var errUnsupported = fmt.Errorf("perf exists only on Linux: %w", errors.ErrUnsupported)

func mapMarker(*os.File) ([]byte, error) { return nil, errUnsupported }

func unmapMarker([]byte) error { return nil }

func monotonic() (uint64, error) { return 0, errUnsupported }

func lock(*os.File) {}

func locked(string) bool { return false }

func mappedHere(string, fs.FileInfo) bool { return false }
