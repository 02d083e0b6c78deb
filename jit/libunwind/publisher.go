// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind/internal/calls"
	"github.com/clewdev/clew/region"
)

// Publisher makes generated code known to the libunwind of this process. It implements
// [jit.Publisher]; its methods may be called concurrently. The zero value uses the format
// RemoteTable if the distance from the code to its table fits, else IPOffset.
type Publisher struct {
	// Format is RemoteTable or IPOffset; 0 means either.
	Format Format
}

// Publish implements [jit.Publisher]. It omits functions without an unwind table. The
// error is [jit.ErrNotApplicable] if the program has no libunwind, was built without cgo
// or package linked, or if no function has a table. It wraps [cfi.ErrRange] if a
// distance in the batch does not fit the format.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if !calls.Loaded() {
		return nil, jit.ErrNotApplicable
	}
	switch p.Format {
	case 0, RemoteTable, IPOffset:
	default:
		return nil, fmt.Errorf("%w: format %[4]v, expected %[2]v or %[3]v", ErrInfo, RemoteTable, IPOffset, p.Format)
	}
	m := jit.Host()
	if c.Machine != nil && c.Machine != m {
		return nil, fmt.Errorf("%w: code for %s in a program for %s", jit.ErrCode, c.Machine.Name, m.Name)
	}
	claim, err := published.Add(c)
	if err != nil {
		return nil, err
	}
	b := &batch{format: p.Format, functions: make([]function, len(c.Functions)), claim: claim}
	if err := b.publishAll(c); err != nil {
		claim.Remove()
		return nil, err
	}
	return b, nil
}

// published is the code in the process's list.
var published jit.Published

// publishAll publishes a new batch.
func (b *batch) publishAll(c *jit.Code) error {
	if err := b.encode(c); err != nil {
		return err
	}
	if b.block == nil {
		return jit.ErrNotApplicable
	}
	// A run must not cover memory between two ranges.
	for first := 0; first < len(c.Functions); {
		last := first
		for last < len(c.Functions) && c.Functions[last].Range == c.Functions[first].Range {
			last++
		}
		r := &run{first: first, last: last}
		if err := b.publish(r); err != nil {
			for _, r := range b.runs {
				b.withdraw(r)
			}
			b.block.release()
			return err
		}
		if r.info != nil {
			b.runs = append(b.runs, r)
		}
		first = last
	}
	return nil
}

// Listening reports whether the program has libunwind, and package linked. It implements
// jit.Listener.
func (p *Publisher) Listening() bool { return calls.Loaded() }

// batch is a Registration. Its functions are in runs, with one Info each. No run
// covers a withdrawn function, because other code may be placed there later and
// published before or after the rest of the run.
type batch struct {
	mu        sync.Mutex
	format    Format
	base      uint64 // of the code
	functions []function
	runs      []*run
	claim     *jit.Claim
	block     *block // call frame information and table
	table     uint64 // address of the table, for the format RemoteTable
}

type function struct {
	start, end uint64
	fde        uint64 // address; 0 if there is none
	entry      int    // index in the table, of this or the next function with an FDE
	gone       bool
}

// run is the functions [first, last).
type run struct {
	first, last int
	info        []byte // nil if none of its functions has a table
	table       *block // its own, for the format IPOffset
}

// encode writes the call frame information and the table of a batch.
func (b *batch) encode(c *jit.Code) error {
	var e cfi.Encoder
	m := jit.Host()
	b.base = c.Address
	absolute := make(map[*cfi.CIE]*cfi.CIE)
	write := func(address uint64) error {
		var faults jit.FunctionErrors
		e.Machine, e.Address = m, address
		for i := range c.Functions {
			f := &c.Functions[i]
			if !hasTable(f) {
				continue
			}
			// The start of the function is absolute, for code at any distance.
			cie := absolute[f.Unwind.CIE]
			if cie == nil {
				other := *f.Unwind.CIE
				other.PointerEncoding = cfi.EncAbsptr
				cie = &other
				absolute[f.Unwind.CIE] = cie
			}
			p := *f.Unwind
			p.CIE = cie
			if err := e.Program(&p, c.Start(f), f.Size); err != nil {
				faults = append(faults, c.Fault(i, err))
			}
		}
		return faults.Err()
	}
	// The first pass computes the size: the encoding is the same for every nearby address.
	if err := write(c.Address); err != nil || len(e.Data) == 0 {
		return err
	}
	frames, entries := (len(e.Data)+7)&^7, 0
	for i := range c.Functions {
		if hasTable(&c.Functions[i]) {
			entries++
		}
	}
	block, err := newBlock(frames+entries*entrySize, c.Address+uint64(len(c.Text)))
	if err != nil {
		return err
	}
	size := len(e.Data)
	e.Reset()
	if err := write(block.address()); err != nil || len(e.Data) != size {
		block.release()
		if err == nil {
			err = fmt.Errorf("%w: the size of call frame information changed from %d to %d bytes", cfi.ErrRange, size, len(e.Data))
		}
		return err
	}
	copy(block.memory, e.Data)
	b.block, b.table = block, block.address()+uint64(frames)

	section := cfi.Section{Data: e.Data, Address: block.address(), Machine: m}
	fits, n := true, 0
	next := fdes(&section)
	table := fields{m, block.memory[frames:]}
	for i := range c.Functions {
		f := &b.functions[i]
		f.start = c.Start(&c.Functions[i])
		f.end = f.start + c.Functions[i].Size
		f.entry = n
		if !hasTable(&c.Functions[i]) {
			continue
		}
		f.fde = next()
		from := int64(f.start - block.address())
		fits = fits && from >= math.MinInt32 && from <= math.MaxInt32
		table.put(int64(n)*entrySize, 4, uint64(uint32(from)))
		table.put(int64(n)*entrySize+4, 4, uint64(uint32(f.fde-block.address())))
		n++
	}
	switch {
	case b.format == 0 && fits:
		b.format = RemoteTable
	case b.format == 0:
		b.format = IPOffset
	case b.format == RemoteTable && !fits:
		err = fmt.Errorf("%w: the code at %#x is too far from its table at %#x for the format %v", cfi.ErrRange, b.base, b.table, b.format)
	}
	longest := len(c.Text)
	for _, r := range c.Ranges {
		longest = max(longest, len(r.Text))
	}
	if b.format == IPOffset && longest > math.MaxInt32 || len(e.Data) > math.MaxInt32 {
		err = fmt.Errorf("%w: %#x bytes of code for the format %v", cfi.ErrRange, longest, b.format)
	}
	if err != nil {
		block.release()
		b.block = nil
	}
	return err
}

func hasTable(f *jit.Function) bool { return f.Unwind != nil && f.Size > 0 }

// fdes returns a function that returns the addresses of the FDEs in turn.
func fdes(s *cfi.Section) func() uint64 {
	offset := uint64(0)
	return func() uint64 {
		for {
			at := offset
			// This package wrote the entries: lengths have four bytes, and CIEs an id of 0.
			length := uint64(s.Machine.Order.Uint32(s.Data[at:]))
			offset += 4 + length
			if s.Machine.Order.Uint32(s.Data[at+4:]) != 0 {
				return s.Address + at
			}
		}
	}
}

// publish publishes a run that covers no withdrawn function.
func (b *batch) publish(r *run) error {
	for r.first < r.last && b.functions[r.first].fde == 0 {
		r.first++
	}
	for r.first < r.last && b.functions[r.last-1].fde == 0 {
		r.last--
	}
	if r.first == r.last {
		return nil
	}
	first, last := &b.functions[r.first], &b.functions[r.last-1]
	entries := uint64(last.entry - first.entry + 1)
	table := b.table + uint64(first.entry)*entrySize
	m := jit.Host()
	if b.format == IPOffset {
		own, err := newBlock(int(entries)*entrySize, b.base)
		if err != nil {
			return err
		}
		r.table, table = own, own.address()
		out, n := fields{m, own.memory}, int64(0)
		for i := r.first; i < r.last; i++ {
			if f := &b.functions[i]; f.fde != 0 {
				out.put(n, 4, f.start-first.start)
				out.put(n+4, 4, uint64(uint32(f.fde-b.block.address())))
				n += entrySize
			}
		}
	}
	memory, err := newInfo()
	if err != nil {
		if r.table != nil {
			r.table.release()
		}
		return err
	}
	put(m, memory, &Info{
		Start: first.start, End: last.end, Format: b.format,
		Table: &region.Table{SegmentBase: b.block.address()},
	}, info{table: table, words: entries * entrySize / uint64(m.AddressSize)})
	r.info = memory
	calls.Register(address(memory))
	return nil
}

func (b *batch) withdraw(r *run) {
	if r.info != nil {
		calls.Cancel(address(r.info), b.functions[r.first].start, b.functions[r.last-1].end)
		releaseInfo(r.info)
	}
	if r.table != nil {
		r.table.release()
	}
}

// Withdraw implements jit.Registration. If there is no memory for the description of
// the remaining functions, it returns an error and withdraws nothing.
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
	if err == nil {
		b.claim.RemoveFunctions(functions...)
	}
	return err
}

// forget withdraws the given functions; without any, all of them.
func (b *batch) forget(functions []int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range functions {
		if i < 0 || i >= len(b.functions) {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", jit.ErrCode, i, len(b.functions))
		}
	}
	if len(functions) == 0 {
		for i := range b.functions {
			b.functions[i].gone = true
		}
		for _, r := range b.runs {
			b.withdraw(r)
		}
		b.runs = nil
		b.close()
		return nil
	}
	var lost, hit []int // functions to withdraw, and their runs
	for _, i := range functions {
		if b.functions[i].gone {
			continue
		}
		b.functions[i].gone = true
		lost = append(lost, i)
		n := sort.Search(len(b.runs), func(n int) bool { return b.runs[n].last > i })
		if n < len(b.runs) && b.runs[n].first <= i {
			hit = append(hit, n)
		}
	}
	slices.Sort(hit)
	hit = slices.Compact(hit)
	// The remaining functions are published again before the old runs are withdrawn.
	var begun []*run
	for _, n := range hit {
		for _, r := range b.split(b.runs[n]) {
			if err := b.publish(r); err != nil {
				for _, r := range begun {
					b.withdraw(r)
				}
				for _, i := range lost {
					b.functions[i].gone = false
				}
				return err
			}
			if r.info != nil {
				begun = append(begun, r)
			}
		}
	}
	for _, n := range slices.Backward(hit) {
		b.withdraw(b.runs[n])
		b.runs = slices.Delete(b.runs, n, n+1)
	}
	for _, r := range begun {
		n := sort.Search(len(b.runs), func(n int) bool { return b.runs[n].first > r.first })
		b.runs = slices.Insert(b.runs, n, r)
	}
	b.close()
	return nil
}

// split returns the runs that remain of one run.
func (b *batch) split(r *run) []*run {
	var out []*run
	for first := r.first; first < r.last; {
		last := first
		for last < r.last && !b.functions[last].gone {
			last++
		}
		if last > first {
			out = append(out, &run{first: first, last: last})
		}
		first = last + 1
	}
	return out
}

// close frees the memory when no function is left.
func (b *batch) close() {
	if len(b.runs) == 0 && b.block != nil {
		b.block.release()
		b.block = nil
	}
}
