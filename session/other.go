// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package session

import (
	"errors"

	"github.com/clewdev/clew/value"
)

func memoryAt(address, size uint64) []byte { return nil }

func readProcess(p []byte, address uint64) (int, error) { return 0, errors.ErrUnsupported }

func writeProcess(p []byte, address uint64) (int, error) { return 0, errors.ErrUnsupported }

func writeText(p []byte, address uint64) error { return errors.ErrUnsupported }

type executable struct{ address uint64 }

func newExecutable(near, size, reach uint64) (executable, error) {
	return executable{}, errors.ErrUnsupported
}

func (e *executable) close() error { return nil }

func dumpable() bool { return true }

func thisThread() int { return 0 }

func yieldThread() {}

type surroundings struct{}

func (w *walker) surround(*Session) error { return errors.ErrUnsupported }

func (w *walker) closeSurroundings() {}

func (w *walker) codeAround(uint64) codeFile { return codeFile{} }

func (f *Frame) describeAround() {}

func (f *Frame) infoAround() *value.Info { return nil }
