// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/jit"
)

// batch is a Registration.
type batch struct {
	functions []function // by index in Code.Functions
	modules   []*module
	claim     *jit.Claim
}

// publish implements Publisher.Publish for a batch that was checked.
func (x *modules) publish(c *jit.Code, depths []steps, claim *jit.Claim) (*batch, error) {
	b := &batch{functions: make([]function, len(c.Functions)), claim: claim}
	x.mu.Lock()
	defer x.mu.Unlock()
	var scratch steps
	live := 0
	err := func() error {
		for i := range c.Functions {
			f, from := &b.functions[i], &c.Functions[i]
			if from.Size == 0 {
				f.gone = true
				continue
			}
			live++
			f.start = c.Start(from)
			f.end = f.start + from.Size
			if err := x.describe(f, from, &depths[i], &scratch); err != nil {
				return err
			}
		}
		return x.makeWay(b)
	}()
	var list []*module
	if err == nil {
		list, err = x.split(b, 0, len(b.functions))
	}
	if err != nil {
		for i := range b.functions {
			x.drop(&b.functions[i], true)
		}
		return nil, err
	}
	x.replace(nil, list)
	x.functions += live
	x.collect()
	return b, nil
}

// Withdraw implements jit.Registration.
func (b *batch) Withdraw() error {
	defer b.claim.Remove()
	x := &linked
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range b.modules {
		x.remove(m)
	}
	b.modules = nil
	for i := range b.functions {
		x.forget(&b.functions[i])
	}
	x.collect()
	return nil
}

func (x *modules) forget(f *function) {
	if !f.gone {
		f.gone = true
		x.drop(f, false)
		x.functions--
	}
}

// WithdrawFunctions implements jit.Registration. If memory is lacking for the description of
// the remaining functions, it returns an error and withdraws nothing.
func (b *batch) WithdrawFunctions(functions ...int) error {
	for _, i := range functions {
		if i < 0 || i >= len(b.functions) {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", jit.ErrCode, i, len(b.functions))
		}
	}
	x := &linked
	x.mu.Lock()
	defer x.mu.Unlock()
	var news []int // the indexes that were not gone
	for _, i := range functions {
		if !b.functions[i].gone {
			b.functions[i].gone = true
			news = append(news, i)
		}
	}
	slices.Sort(news)
	var old, list []*module
	for _, m := range b.modules {
		k, _ := slices.BinarySearch(news, m.from)
		if k == len(news) || news[k] >= m.to {
			continue
		}
		rest, err := x.split(b, m.from, m.to)
		if err != nil {
			for _, m := range list {
				x.discard(m)
			}
			for _, i := range news {
				b.functions[i].gone = false
			}
			return err
		}
		old, list = append(old, m), append(list, rest...)
	}
	x.replace(old, list)
	for _, i := range news {
		x.drop(&b.functions[i], false)
		x.functions--
	}
	b.claim.RemoveFunctions(functions...)
	x.collect()
	return nil
}
