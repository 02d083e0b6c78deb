// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/jit"
)

// batch is a published batch, as a jit.Registration. Its memory is kept until all of
// its functions are withdrawn.
type batch struct {
	registry *registry
	memory   []byte
	offsets  []uint32 // of the FDEs, by function index; noFDE for functions without one or withdrawn
	live     int
	separate bool // a terminator follows each FDE, not only the last
	array    bool // LLVM can read it as one section
	direct   []direct
}

// direct is an unwinder to which the batch's own memory is registered.
type direct struct {
	*unwinder
	single bool // FDE by FDE, not as one section
}

// noFDE is never an offset: entries are aligned.
const noFDE = ^uint32(0)

// newBatch encodes the tables of a batch, and registers nothing.
func (r *registry) newBatch(c *jit.Code) (*batch, error) {
	b := &batch{registry: r, offsets: make([]uint32, len(c.Functions))}
	for _, u := range r.unwinders {
		b.separate = b.separate || u.flavour == rangeTree
	}
	r.encoder.reset()
	var faults jit.FunctionErrors
	for i := range c.Functions {
		f := &c.Functions[i]
		b.offsets[i] = noFDE
		// libgcc ignores a function at 0: it counts as one that the linker has
		// removed.
		if f.Unwind == nil || f.Size == 0 || c.Start(f) == 0 {
			continue
		}
		offset, err := r.encoder.append(f.Unwind, c.Start(f), f.Size)
		if err != nil {
			faults = append(faults, c.Fault(i, err))
			continue
		}
		if b.separate {
			r.encoder.terminate()
		}
		b.offsets[i] = offset
		b.live++
	}
	if b.live == 0 {
		return b, faults.Err()
	}
	// LLVM's section reader associates FDEs only with the CIE before them.
	if b.array = !b.separate && r.encoder.distinct == 1; b.array {
		r.encoder.block()
	} else if !b.separate {
		r.encoder.terminate()
	}
	data := r.encoder.Data
	r.validator.reset(data)
	for i, offset := range b.offsets {
		if offset == noFDE {
			continue
		}
		f := &c.Functions[i]
		if err := r.validator.validate(f.Unwind, offset); err != nil {
			faults = append(faults, c.Fault(i, err))
		}
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b *jit.FunctionError) int { return a.Index - b.Index })
		return nil, faults
	}
	b.memory = r.memory.allocate(len(data))
	copy(b.memory, data)
	return b, nil
}

// fde returns the FDE at an offset of the batch's memory.
func (b *batch) fde(offset uint32) fde { return fdeAt(b.memory, offset) }

// addresses returns the addresses of the FDEs at the given offsets. They are valid until
// the next use of the registry's addresses.
func (b *batch) addresses(offsets []uint32) []uintptr {
	all := b.registry.addresses[:0]
	for _, offset := range offsets {
		if offset != noFDE {
			all = append(all, b.fde(offset).address())
		}
	}
	b.registry.addresses = all
	return all
}

// register registers the batch with the unwinders that do not share lists of sections.
func (b *batch) register() {
	for _, u := range b.registry.unwinders {
		switch u.flavour {
		case rangeTree:
			u.register(b.addresses(b.offsets))
			b.direct = append(b.direct, direct{u, true})
		case functionArray:
			single := !b.array || u.register == nil
			if single {
				u.registerFDEs(b.addresses(b.offsets))
			} else {
				u.register(b.registry.at(b.memory))
			}
			b.direct = append(b.direct, direct{u, single})
		}
	}
}

// Withdraw implements jit.Registration.
func (b *batch) Withdraw() error { return b.forget(nil) }

// WithdrawFunctions implements jit.Registration.
func (b *batch) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	return b.forget(functions)
}

// forget withdraws the given functions; without any, all functions of the batch.
func (b *batch) forget(functions []int) error {
	b.registry.mu.Lock()
	defer b.registry.mu.Unlock()
	for _, i := range functions {
		if i < 0 || i >= len(b.offsets) {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", jit.ErrCode, i, len(b.offsets))
		}
	}
	b.registry.releaseRetired()
	gone := b.registry.gone[:0]
	take := func(i int) {
		if b.offsets[i] != noFDE {
			gone = append(gone, b.offsets[i])
			b.offsets[i] = noFDE
		}
	}
	if len(functions) == 0 && b.live > 0 {
		for i := range b.offsets {
			take(i)
		}
	}
	for _, i := range functions {
		take(i)
	}
	b.registry.gone = gone
	if len(gone) > 0 {
		b.withdraw(gone)
	}
	return nil
}

// withdraw makes the functions with FDEs at the given offsets unknown. The offsets are
// no longer in b.offsets.
func (b *batch) withdraw(gone []uint32) {
	r := b.registry
	b.live -= len(gone)
	for i := range b.direct {
		d := &b.direct[i]
		switch {
		case d.flavour == rangeTree:
			d.unwinder.withdraw(b.addresses(gone))
		case d.single:
			d.withdrawFDEs(b.addresses(gone))
		default:
			// The array may contain a function twice: the remaining functions are known
			// at every moment.
			if b.live > 0 {
				d.registerFDEs(b.addresses(b.offsets))
				d.single = true
			}
			d.unwinder.withdraw(r.at(b.memory))
		}
	}
	for _, offset := range gone {
		r.index.remove(r, b.fde(offset).start())
	}
	if b.live == 0 {
		r.memory.release(b.memory)
		b.memory, b.direct = nil, nil
	}
}
