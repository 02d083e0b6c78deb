// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package gdb

import (
	"fmt"
	"runtime"

	"github.com/clewdev/clew/jit"
)

type store struct{}

// Publish registers a batch with debuggers. Here it returns an error that wraps
// jit.ErrNotApplicable: there is no implementation for this system and machine.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: the GDB JIT interface on %s/%s", jit.ErrNotApplicable, runtime.GOOS, runtime.GOARCH)
}

// PublishImage registers a symbol file that is ready. Here it returns an error as
// Publish does.
func (p *Publisher) PublishImage(file []byte) (jit.Registration, error) {
	return nil, fmt.Errorf("%w: the GDB JIT interface on %s/%s", jit.ErrNotApplicable, runtime.GOOS, runtime.GOARCH)
}

// Own returns the addresses of the interface in this program: 0, here.
func Own() (descriptor, register uint64) { return 0, 0 }

// Changes returns how often this program's list has changed: never, here.
func Changes() uint64 { return 0 }

// Flush registers what Gather holds back. Here it does nothing.
func (p *Publisher) Flush() {}

// Stats returns what the publisher holds: nothing, here.
func (p *Publisher) Stats() Stats { return Stats{} }
