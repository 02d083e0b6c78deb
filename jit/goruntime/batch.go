// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"

	"github.com/clewdev/clew/jit"
)

// batch is a Registration.
type batch struct {
	functions []function // by index in Code.Functions
	claim     *jit.Claim
}

// publish implements Publisher.Publish for a batch that was checked.
func (x *modules) publish(c *jit.Code, depths []steps, claim *jit.Claim) (*batch, error) {
	b := &batch{functions: make([]function, len(c.Functions)), claim: claim}
	x.mu.Lock()
	defer x.mu.Unlock()
	var scratch steps
	live := 0
	for i := range c.Functions {
		f, from := &b.functions[i], &c.Functions[i]
		if from.Size == 0 {
			f.gone = true
			continue
		}
		live++
		f.start = c.Start(from)
		f.end = f.start + from.Size
		if err := x.describe(f, from, c.Bytes(from), &depths[i], &scratch); err != nil {
			for i := range b.functions {
				x.drop(&b.functions[i], true)
			}
			return nil, err
		}
	}
	x.functions += live
	if err := x.add(b.functions); err != nil {
		for i := range b.functions {
			x.remove(&b.functions[i])
		}
		return nil, err
	}
	x.collect()
	return b, nil
}

// add makes functions visible to the runtime.
func (x *modules) add(functions []function) error {
	x.page.start, x.page.covered = 0, x.page.covered[:0]
	for i := range functions {
		f := &functions[i]
		for k := range f.parts {
			if err := x.put(&f.parts[k]); err != nil {
				return err
			}
		}
	}
	if err := x.flush(); err != nil {
		return err
	}
	for _, e := range x.page.covered {
		b, err := x.blockAt(e.start)
		if err == nil {
			err = x.cover(b, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove makes a function invisible to the runtime, unless it is gone.
func (x *modules) remove(f *function) {
	if f.gone {
		return
	}
	f.gone = true
	x.functions--
	for i := range f.parts {
		x.take(&f.parts[i])
	}
	x.drop(f, false)
}

// Withdraw implements jit.Registration.
func (b *batch) Withdraw() error {
	defer b.claim.Remove()
	x := &linked
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range b.functions {
		x.remove(&b.functions[i])
	}
	x.collect()
	return nil
}

// WithdrawFunctions implements jit.Registration.
func (b *batch) WithdrawFunctions(functions ...int) error {
	for _, i := range functions {
		if i < 0 || i >= len(b.functions) {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", jit.ErrCode, i, len(b.functions))
		}
	}
	x := &linked
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, i := range functions {
		x.remove(&b.functions[i])
	}
	b.claim.RemoveFunctions(functions...)
	x.collect()
	return nil
}
