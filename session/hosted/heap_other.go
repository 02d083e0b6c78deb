// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package hosted

import (
	"errors"
	"fmt"
	"runtime"
)

func newHeap(int) (*heap, error) {
	return nil, fmt.Errorf("sessions run on Linux, not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (h *heap) close() error { return nil }
