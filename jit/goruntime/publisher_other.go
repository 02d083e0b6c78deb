// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package goruntime

import (
	"fmt"
	"runtime"

	"github.com/clewdev/clew/jit"
)

var layout126, layout127 layout

func start() error {
	return fmt.Errorf("%w: %s on %s/%s", ErrVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Publisher makes generated code known to the Go runtime of this process. On this system or
// machine it is not implemented.
type Publisher struct{}

// Default is the publisher that jit.Publish calls.
var Default = &Publisher{}

func init() { jit.Register(jit.StageRuntime, "goruntime", Default) }

// Listening implements jit.Listener. Here it returns false.
func (p *Publisher) Listening() bool { return false }

// Publish implements jit.Publisher. Here the error wraps ErrVersion.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return nil, start()
}
