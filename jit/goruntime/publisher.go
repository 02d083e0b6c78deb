// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/clewdev/clew/jit"
)

// Publisher makes generated code known to the Go runtime of this process. It implements
// jit.Publisher; its methods may be called concurrently. All publishers share the
// runtime's list.
type Publisher struct{}

// Default is the publisher that jit.Publish calls.
var Default = &Publisher{}

func init() { jit.Register(jit.StageRuntime, "goruntime", Default) }

// version is the release that built the program. Tests replace it.
var version = runtime.Version

// start prepares the runtime's list for modules of this package.
func start() error {
	linked.mu.Lock()
	defer linked.mu.Unlock()
	return linked.start(version())
}

// computing has frames for reuse: each publication uses one.
var computing = sync.Pool{New: func() any { return new(frames) }}

// published is the code in the runtime's list.
var published jit.Published

// Listening reports whether the runtime is supported: tracebacks need the code at any time. It
// implements jit.Listener.
func (p *Publisher) Listening() bool { return Supported() == nil }

// Publish implements jit.Publisher. Functions that Go's runtime could not walk through are
// jit.FunctionErrors that wrap ErrFrame. If the runtime is not supported, the error wraps
// ErrVersion.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := Supported(); err != nil {
		return nil, err
	}
	m := jit.Host()
	if c.Machine != nil && c.Machine != m {
		return nil, fmt.Errorf("%w: code for %s in a program for %s", jit.ErrCode, c.Machine.Name, m.Name)
	}
	c, err := c.Resolve(true)
	if err != nil {
		return nil, err
	}
	x := computing.Get().(*frames)
	defer computing.Put(x)
	x.machine, x.last = m, nil
	depths := make([]steps, len(c.Functions))
	var faults jit.FunctionErrors
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Size == 0 {
			continue
		}
		depths[i].reset(uint64(quantum()))
		err := x.depths(&depths[i], f, c.Bytes(f))
		if err == nil && len(f.Pointers) > 0 {
			err = x.pointers(&depths[i], f)
		}
		if err != nil {
			faults = append(faults, c.Fault(i, err))
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	claim, err := published.Add(c)
	if err != nil {
		return nil, err
	}
	b, err := linked.publish(c, depths, claim)
	if err != nil {
		claim.Remove()
		return nil, err
	}
	return b, nil
}

// goName returns the name of a function in Go's runtime. Tracebacks omit functions without a
// dot in their names, and those of package runtime.
func goName(name string) string {
	if !strings.Contains(name, ".") || strings.HasPrefix(name, "runtime.") {
		return "jit." + name
	}
	return name
}

// Stats is the size of the tables.
type Stats struct {
	Functions int // published and not withdrawn
	Modules   int // entries of the runtime's list: groups of pages of code that follow each other
	Retired   int // pieces of withdrawn memory that were not freed yet
	Memory    int // bytes of memory that became accessible, of all tables
}

// Stats returns the size of the tables of all publishers.
func (p *Publisher) Stats() Stats {
	x := &linked
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Stats{Functions: x.functions, Modules: len(x.live), Retired: len(x.retired) + len(x.waiting)}
	if x.layout != nil {
		for _, m := range x.spaces() {
			s.Memory += int(m.ready)
		}
		for _, b := range x.blocks {
			s.Memory += int(b.records.ready)
		}
	}
	return s
}
