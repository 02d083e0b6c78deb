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

func newMemory(int) (*Memory, error) {
	return nil, fmt.Errorf("%w: Clew does not support it on %s/%s: %w", ErrMemory, runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

func (m *Memory) seal() error { return fmt.Errorf("%w: it was closed", ErrMemory) }

func (m *Memory) unseal() error { return nil }

func (m *Memory) close() error { return nil }

func address([]byte) uint64 { return 0 }

func synchronize([]byte) {}
