// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

// Withdraw implements jit.Registration. When it returns, no debugger knows the functions
// or has a breakpoint in their memory, which may be reused. A symbol file that contains
// other functions too is replaced by a new one.
//
// An error means one of two things. Either a function does not exist, and nothing was
// withdrawn. Or there is no memory for the new symbol file, and its other functions
// became unknown as well.
func (b *batch) Withdraw() error {
	defer b.claim.Remove()
	return b.forget(nil)
}

// WithdrawFunctions implements jit.Registration.
func (b *batch) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	err := b.forget(functions)
	if !errors.Is(err, jit.ErrCode) {
		b.claim.RemoveFunctions(functions...)
	}
	return err
}

// forget withdraws the given functions; without any, all functions of the batch.
func (b *batch) forget(functions []int) error {
	for _, f := range functions {
		if f < 0 || f >= b.functions() {
			return fmt.Errorf("%w: function %d: the batch has functions 0 to %d", jit.ErrCode, f, b.functions()-1)
		}
	}
	list.Lock()
	defer list.Unlock()
	p := b.publisher
	withdrawn := b.mark(functions)
	if len(withdrawn) == 0 {
		return nil
	}
	p.functions -= len(withdrawn)
	var failed error
	var fresh []*image
	images := b.images()
	for _, i := range images {
		n := i.count(withdrawn, len(images) > 1)
		if n == 0 {
			continue
		}
		p.unsettle(i)
		if n == i.functions {
			p.retire(i)
			continue
		}
		replacing, err := p.rewrite([]*image{i}, withdrawn)
		if err != nil {
			failed = fmt.Errorf("no memory to rewrite the symbol file: %d functions that were not withdrawn became unknown: %w", i.functions-n, err)
			p.retire(i)
			continue
		}
		fresh = append(fresh, replacing...)
	}
	// Not earlier: merging could remove an image that the loop has not reached.
	for _, i := range fresh {
		if i.registered {
			p.settle(i)
		} else {
			p.pending = append(p.pending, i)
		}
	}
	return failed
}

// count returns how many functions of an image start at the withdrawn addresses, which belong
// to one batch and are in ascending order. If no other image has functions of that batch,
// these are all withdrawn functions in the image's range. Otherwise the range can
// also contain functions of the batch's other images.
func (i *image) count(withdrawn []uint64, split bool) int {
	from, _ := slices.BinarySearch(withdrawn, i.low)
	to, _ := slices.BinarySearch(withdrawn, i.high+1)
	if !split || from == to {
		return to - from
	}
	n := 0
	// It returns no error for a file of this package, and keeps no reference to it.
	_, _ = symfile.Merge(nil, [][]byte{i.file()}, func(start uint64) bool {
		if _, found := slices.BinarySearch(withdrawn[from:to], start); found {
			n++
		}
		return false
	})
	return n
}

// mark records that functions are withdrawn, and returns the start addresses of those that
// were not before, in ascending order.
func (b *batch) mark(functions []int) []uint64 {
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
			b.markWithdrawn(f)
			starts = append(starts, b.address(f))
		}
	}
	slices.Sort(starts)
	return starts
}

// retire drops an image that has no functions left.
func (p *Publisher) retire(i *image) {
	for _, b := range i.batches {
		b.leave(i)
	}
	p.drop(i)
}
