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

// Publish registers a batch with debuggers. On this system or machine it is not
// implemented: the error wraps jit.ErrNotApplicable.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: the GDB JIT interface on %s/%s", jit.ErrNotApplicable, runtime.GOOS, runtime.GOARCH)
}

// PublishImage registers a symbol file that the caller made. Here it returns the same
// error as Publish.
func (p *Publisher) PublishImage(file []byte) (jit.Registration, error) {
	return nil, fmt.Errorf("%w: the GDB JIT interface on %s/%s", jit.ErrNotApplicable, runtime.GOOS, runtime.GOARCH)
}

// Own returns the addresses of the interface in this program; here 0.
func Own() (descriptor, register uint64) { return 0, 0 }

// Changes returns the number of changes of this program's list; here 0.
func Changes() uint64 { return 0 }

// Listening implements jit.Listener. Here it returns false.
func (p *Publisher) Listening() bool { return false }

// Flush registers the batches that Gather and OnDemand delay. Here it does nothing.
func (p *Publisher) Flush() {}

// Stats returns the size of the publisher's symbol files; here 0.
func (p *Publisher) Stats() Stats { return Stats{} }
