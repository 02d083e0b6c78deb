// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package jit

import (
	"errors"
	"fmt"
	"runtime"
)

func reserve(int) ([]byte, error) {
	return nil, fmt.Errorf("%w: Clew does not support it on %s/%s: %w", ErrMemory, runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

func unmap([]byte) error         { return nil }
func protect([]byte, bool) error { return errors.ErrUnsupported }
func synchronizeCode([]byte)     {}
