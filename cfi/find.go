// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Index finds the FDE of an address in a section without an .eh_frame_hdr. It
// is not changed after it was made and may be shared.
type Index struct {
	s      *Section
	ranges []indexed
}

type indexed struct{ start, end, offset uint64 }

// Index reads the section once and sorts its FDEs. FDEs that are malformed or
// cover no address are left out; those whose functions the linker dropped
// start at address 0 and are kept, but never hide others.
func (s *Section) Index() *Index {
	x := &Index{s: s}
	for f := range s.FDEs() {
		if f.End > f.Start {
			x.ranges = append(x.ranges, indexed{f.Start, f.End, f.Offset})
		}
	}
	slices.SortStableFunc(x.ranges, func(a, b indexed) int { return cmp.Compare(a.start, b.start) })
	return x
}

// maxOverlap is how many FDEs that start later Find looks behind.
const maxOverlap = 16

// Find decodes the FDE that covers an address (without load bias) into f. The
// error wraps ErrNoFDE where none does.
func (x *Index) Find(pc uint64, f *FDE) error {
	n := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].start > pc })
	for i := n - 1; i >= 0 && i >= n-maxOverlap; i-- {
		if pc < x.ranges[i].end {
			return x.s.FDEAt(x.ranges[i].offset, f)
		}
	}
	return x.s.noFDE(pc)
}

// Find decodes the FDE that covers an address (without load bias) into f,
// reading the section from its start. The error wraps ErrNoFDE where none does.
func (s *Section) Find(pc uint64, f *FDE) error {
	for g := range s.FDEs() {
		if g.Start <= pc && pc < g.End {
			*f = *g
			return nil
		}
	}
	return s.noFDE(pc)
}

func (s *Section) noFDE(pc uint64) error {
	return fmt.Errorf("%w in %s covers %#x", ErrNoFDE, s.Name, pc)
}

// PCToSPOffset returns what must be added to the stack pointer at an address
// (without load bias) to get the CFA. The error wraps ErrNoFDE where no FDE
// covers the address, and ErrNotSP where the CFA there follows from other
// registers or from memory. A CFA that an expression computes from the stack
// pointer and the program counter alone, as in a PLT, is computed.
func (s *Section) PCToSPOffset(pc uint64) (int64, error) {
	var f FDE
	if err := s.Find(pc, &f); err != nil {
		return 0, err
	}
	var x Interpreter
	row, err := x.RowAt(&f, pc)
	if err != nil {
		return 0, err
	}
	return s.spOffset(row.CFA, f.CIE, pc)
}

func (s *Section) spOffset(cfa Rule, cie *CIE, pc uint64) (int64, error) {
	sp := s.Machine.StackPointer
	switch cfa.Kind {
	case Register:
		if sp >= 0 && uint64(cfa.Register) == uint64(sp) {
			return cfa.Offset, nil
		}
		return 0, fmt.Errorf("%w: it is %s%+d at %#x", ErrNotSP, s.Machine.RegisterName(uint64(cfa.Register)), cfa.Offset, pc)
	case ValExpression:
		// Two stack pointers: where both give one distance, it is the distance.
		var e Evaluator
		low, err := e.CFA(s, cfa, spFrame{s.Machine.StackPointer, 1 << 16, cie.ReturnAddress, pc})
		if err != nil {
			return 0, fmt.Errorf("%w at %#x: %w", ErrNotSP, pc, err)
		}
		high, err := e.CFA(s, cfa, spFrame{s.Machine.StackPointer, 1<<24 | 8, cie.ReturnAddress, pc})
		if err != nil || high-(1<<24|8) != low-1<<16 {
			return 0, fmt.Errorf("%w: it is an expression at %#x", ErrNotSP, pc)
		}
		return int64(low - 1<<16), nil
	}
	return 0, fmt.Errorf("%w: no rule gives it at %#x", ErrNotSP, pc)
}

// spFrame is a frame of which only the stack pointer and the program counter are known.
type spFrame struct {
	spColumn int
	sp       uint64
	pcColumn uint64
	pc       uint64
}

func (f spFrame) Register(column uint64) (uint64, bool) {
	switch {
	case f.spColumn >= 0 && column == uint64(f.spColumn):
		return f.sp, true
	case column == f.pcColumn:
		return f.pc, true
	}
	return 0, false
}

func (f spFrame) ReadMemory([]byte, uint64) error {
	return fmt.Errorf("no memory is known")
}
