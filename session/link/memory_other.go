// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package link

import (
	"errors"
	"fmt"
	"runtime"
)

// mapping is a program's memory, which is not supported on this system.
type mapping struct{}

func (m *mapping) reserve(uint64, uint64, bool) (uint64, error) {
	return 0, fmt.Errorf("%w: Clew maps no code on %s/%s: %w", ErrUnsupported, runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

func (m *mapping) fill(*linker) error { return nil }

func (m *mapping) close() error { return nil }
