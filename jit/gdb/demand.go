// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clewdev/clew/jit"
)

// registerCode returns the code of the function by which the program reports changes of the
// list.
func registerCode() *uint32

// attached reports whether a debugger has its breakpoint on that function. Its only instruction is not
// a return then.
func attached() bool {
	return isBreakpoint(atomic.LoadUint32(registerCode()))
}

func isBreakpoint(code uint32) bool {
	if runtime.GOARCH == "arm64" {
		return code != 0xd65f03c0 // ret
	}
	return code&0xff != 0xc3 // ret
}

// Listening reports whether a debugger is attached, or may find the list later because OnDemand
// is not set. It implements jit.Listener.
func (p *Publisher) Listening() bool { return p.OnDemand <= 0 || attached() }

// demand contains the batches of a publisher that are not described yet. Its lock is taken
// before the list's.
type demand struct {
	mu      sync.Mutex
	batches []*postponed
	timer   *time.Timer
}

// postponed is a batch that is described when a debugger is attached. The demand's lock guards
// it.
type postponed struct {
	publisher *Publisher
	place     int      // in demand.batches
	code      jit.Code // until it is described
	own       bool     // code.Functions is a copy
	batch     *batch   // nil before it is described, and if it is withdrawn
	functions int
	claim     *jit.Claim // set by Publish
}

// postpone keeps a batch until a debugger is attached.
func (p *Publisher) postpone(c *jit.Code) (*postponed, error) {
	if !p.AllowSecond {
		if err := checkSecond(); err != nil {
			return nil, err
		}
	}
	d := &p.demand
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &postponed{publisher: p, place: len(d.batches), code: *c, functions: len(c.Functions)}
	d.batches = append(d.batches, b)
	if len(d.batches) == 1 {
		if d.timer == nil {
			d.timer = time.AfterFunc(p.OnDemand, p.look)
		} else {
			d.timer.Reset(p.OnDemand)
		}
	}
	return b, nil
}

// look registers the batches if a debugger is attached, and otherwise looks again later.
func (p *Publisher) look() {
	if attached() {
		p.Flush()
		return
	}
	d := &p.demand
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.batches) > 0 {
		d.timer.Reset(p.OnDemand)
	}
}

// describe makes the symbol files of all batches. Flush registers them.
func (d *demand) describe(p *Publisher) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.batches {
		b.describe(p)
	}
	clear(d.batches)
	d.batches = d.batches[:0]
}

func (b *postponed) describe(p *Publisher) {
	defer func() { b.code = jit.Code{} }()
	for {
		if _, empty := emptyBatch(&b.code); empty {
			return
		}
		batch, err := p.publish(&b.code, true)
		var faults jit.FunctionErrors
		switch {
		case err == nil:
			b.batch = batch
			return
		case !errors.As(err, &faults):
			return // no memory
		}
		for _, f := range faults {
			b.remove(f.Index)
		}
	}
}

// remove makes a function empty.
func (b *postponed) remove(function int) {
	if !b.own {
		b.code.Functions, b.own = slices.Clone(b.code.Functions), true
	}
	b.code.Functions[function].Size = 0
}

// Withdraw implements jit.Registration.
func (b *postponed) Withdraw() error {
	defer b.claim.Remove()
	d := &b.publisher.demand
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.waiting() {
		last := len(d.batches) - 1
		d.batches[b.place] = d.batches[last]
		d.batches[b.place].place = b.place
		d.batches[last] = nil
		d.batches = d.batches[:last]
		b.code = jit.Code{}
		return nil
	}
	if b.batch == nil {
		return nil
	}
	return b.batch.Withdraw()
}

// WithdrawFunctions implements jit.Registration.
func (b *postponed) WithdrawFunctions(functions ...int) error {
	for _, f := range functions {
		if f < 0 || f >= b.functions {
			return fmt.Errorf("%w: function %d: the batch has functions 0 to %d", jit.ErrCode, f, b.functions-1)
		}
	}
	defer b.claim.RemoveFunctions(functions...)
	d := &b.publisher.demand
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.waiting() {
		for _, f := range functions {
			b.remove(f)
		}
		return nil
	}
	if b.batch == nil {
		return nil
	}
	return b.batch.WithdrawFunctions(functions...)
}

func (b *postponed) waiting() bool { return b.code.Functions != nil }
