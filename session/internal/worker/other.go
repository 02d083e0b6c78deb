// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || !amd64

package worker

import (
	"errors"
	"fmt"
	"runtime"
)

// Worker cannot be started on this system.
type Worker struct{}

// General are general registers.
type General struct{}

// Start returns an error that wraps errors.ErrUnsupported.
func Start(Options) (*Worker, error) {
	return nil, fmt.Errorf("a worker on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
