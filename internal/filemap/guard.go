// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package filemap

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrFault is wrapped by the error of a read of a mapped file whose bytes are
// gone: the file was truncated, or its medium failed.
var ErrFault = errors.New("the mapped file was truncated or cannot be read")

// Guard calls fn and returns its error. Where fn, on the calling goroutine,
// reads a byte of a mapped file that can no longer be read, Guard stops fn and
// returns an error that wraps [ErrFault]; what fn had locked stays locked
// unless it is unlocked by a defer. Every other panic passes through. Guards
// may be nested; one costs a few nanoseconds.
func Guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			err = faultError(r)
		}
	}()
	return fn()
}

// faultError returns the error for a recovered fault in a live mapping, and
// panics again with everything else.
func faultError(r any) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if name, ok := At(fault.Addr()); ok {
			return fmt.Errorf("%s: %w", name, ErrFault)
		}
	}
	panic(r)
}
