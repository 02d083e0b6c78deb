// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

// Withdraw implements jit.Registration. No debugger knows the functions when it
// returns, nor has a breakpoint in their memory, which may be used again. Of a
// symbol file that holds other functions too a new one takes the place.
//
// An error says that a function does not exist, and nothing was withdrawn; or
// that there is no memory for the new file, and that its other functions are
// unknown now too.
func (b *batch) Withdraw() error { return b.forget(nil) }

// WithdrawFunctions implements jit.Registration.
func (b *batch) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	return b.forget(functions)
}

// forget withdraws functions, or without any all of them.
func (b *batch) forget(functions []int) error {
	for _, f := range functions {
		if f < 0 || f >= b.functions() {
			return fmt.Errorf("%w: function %d: the batch has %d", jit.ErrCode, f, b.functions())
		}
	}
	list.Lock()
	defer list.Unlock()
	p := b.publisher
	dying := b.dying(functions)
	if len(dying) == 0 {
		return nil
	}
	p.functions -= len(dying)
	var failed error
	var fresh []*image
	images := b.images()
	for _, i := range images {
		n := i.count(dying, len(images) > 1)
		if n == 0 {
			continue
		}
		p.unsettle(i)
		if n == i.functions {
			p.retire(i)
			continue
		}
		replacing, err := p.rewrite([]*image{i}, dying)
		if err != nil {
			failed = fmt.Errorf("%d functions that were not withdrawn became unknown: %w", i.functions-n, err)
			p.retire(i)
			continue
		}
		fresh = append(fresh, replacing...)
	}
	// Only now: merging could take an image that is still to be looked at.
	for _, i := range fresh {
		if i.registered {
			p.settle(i)
		} else {
			p.pending = append(p.pending, i)
		}
	}
	return failed
}

// count returns how many functions of an image start at dying addresses, which
// are of one batch and in ascending order. Where the image alone has functions of
// that batch, that is those in its range. Of a batch that was split, others can
// lie in the range too.
func (i *image) count(dying []uint64, split bool) int {
	from, _ := slices.BinarySearch(dying, i.low)
	to, _ := slices.BinarySearch(dying, i.high+1)
	if !split || from == to {
		return to - from
	}
	n := 0
	// It reports no error for a file of this package, and keeps nothing of it.
	_, _ = symfile.Merge(nil, [][]byte{i.file()}, func(start uint64) bool {
		if _, dies := slices.BinarySearch(dying[from:to], start); dies {
			n++
		}
		return false
	})
	return n
}

// dying returns where the functions start that are to be withdrawn now, in
// ascending order, and notes that they are.
func (b *batch) dying(functions []int) []uint64 {
	var starts []uint64
	if len(functions) == 0 {
		for f := range b.functions() {
			if !b.gone(f) {
				starts = append(starts, b.address(f))
			}
		}
		b.publisher = nil
		return starts
	}
	for _, f := range functions {
		if !b.gone(f) {
			b.bury(f)
			starts = append(starts, b.address(f))
		}
	}
	slices.Sort(starts)
	return starts
}

// retire drops an image without functions.
func (p *Publisher) retire(i *image) {
	for _, b := range i.batches {
		b.leave(i)
	}
	p.drop(i)
}
