// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// zeros is memory that a program header promises and no file stores.
type zeros struct{}

func (zeros) ReadMemory(p []byte, _ uint64) error { clear(p); return nil }

// TestBudget checks functions that are far larger than their file.
func TestBudget(t *testing.T) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x1000}
	cie := cfi.EntryCIE(m)
	cie.PointerEncoding = cfi.EncAbsptr
	const functions = 1000
	for i := range uint64(functions) {
		if err := e.FDE(&cfi.FDE{CIE: cie, Start: (i + 1) << 40, End: (i + 2) << 40}); err != nil {
			t.Fatal(err)
		}
	}
	s := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
	r, err := Section(s, Code{Memory: zeros{}, size: 4096}, Options{})
	if err != nil || r.Functions != functions || r.Reasons[TooLarge] != functions {
		t.Errorf("%+v %v", r, err)
	}
}

// TestLongStubs checks a function in a table of stubs that claims to be larger than memory.
func TestLongStubs(t *testing.T) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x1000}
	cie := cfi.EntryCIE(m)
	cie.PointerEncoding = cfi.EncAbsptr
	if err := e.FDE(&cfi.FDE{CIE: cie, Start: 1 << 40, End: 1<<40 + 64}); err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
	for _, size := range []uint64{0, 1, 16} {
		r, err := Section(s, Code{Memory: zeros{}, Stubs: []Stubs{{Start: 1 << 12, End: 1 << 63, Size: size}}}, Options{})
		if err != nil || r.Functions != 1 {
			t.Errorf("%d: %+v %v", size, r, err)
		}
	}
}

func TestBudgetIsSpent(t *testing.T) {
	c := checker{size: 1}
	c.setBudget(c.size)
	if !c.spend(minWork) || c.spend(minWork) {
		t.Error("the budget does not follow the size")
	}
}

func TestLandingAt(t *testing.T) {
	list := []landing{{0, 5, 100, 0}, {5, 10, 200, 0}, {12, 14, 300, 0}}
	for next, want := range map[uint64]uint64{1: 100, 5: 100, 6: 200, 10: 200, 11: 0, 13: 300, 15: 0} {
		if l := landingAt(list, next); l == nil && want != 0 || l != nil && l.pad != want {
			t.Errorf("landingAt(%d) = %v, want the pad %d", next, l, want)
		}
	}
}
