// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"encoding/binary"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// model is a process with simulated unwinders. They store registrations like the real
// ones, and fail the test where those would abort or go wrong. It calls check after each
// step of an operation.
type model struct {
	t      *testing.T
	memory map[uintptr][]byte // not yet released, by address
	fakes  []*fake
	check  func()
}

// fake is an unwinder of a model.
type fake struct {
	*model
	flavour  flavour
	sections map[uintptr]*parsed
	seen     []*parsed // by descending start; sectionList: parsed at the first lookup
	unseen   []*parsed
	array    []arrayEntry // functionArray
}

type parsed struct {
	at         uintptr
	start, end uint64
	fdes       []cfi.FDE // sectionList: nil before the first lookup
}

type arrayEntry struct {
	key        uintptr
	start, end uint64
	fde        uintptr
}

func newModel(t *testing.T, flavours ...flavour) (*registry, *model) {
	m := &model{t: t, memory: make(map[uintptr][]byte), check: func() {}}
	var all []*unwinder
	for _, flavour := range flavours {
		f := &fake{model: m, flavour: flavour, sections: make(map[uintptr]*parsed)}
		m.fakes = append(m.fakes, f)
		all = append(all, f.unwinder())
	}
	return &registry{find: func() []*unwinder { return all }, memory: m}, m
}

func (m *model) allocate(size int) []byte {
	b := make([]uint64, (size+7)/8)
	section := unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), size)
	m.memory[addressOf(section)] = section
	return section
}

func (m *model) release(b []byte) {
	at := addressOf(b)
	if m.memory[at] == nil {
		m.t.Errorf("memory at %#x is released, and was not allocated", at)
	}
	for _, f := range m.fakes {
		for section := range f.sections {
			if section >= at && section < at+uintptr(len(b)) {
				m.t.Errorf("flavour %d: the memory of the section at %#x is released, and it is registered", f.flavour, section)
			}
		}
		for _, e := range f.array {
			if e.fde >= at && e.fde < at+uintptr(len(b)) {
				m.t.Errorf("the memory of the FDE at %#x is released, and it is registered", e.fde)
			}
		}
	}
	delete(m.memory, at)
}

// parse reads a section up to its terminator. With live set it leaves out functions
// without code.
func (m *model) parse(at uintptr, live bool) []cfi.FDE {
	for start, b := range m.memory {
		if at < start || at >= start+uintptr(len(b)) {
			continue
		}
		// From the memory's start: the CIE of a single FDE is before it.
		section := &cfi.Section{Name: "section", Machine: jit.Host(), Data: b, Address: uint64(start)}
		var fdes []cfi.FDE
		for offset := uint64(at - start); ; {
			length := uint64(jit.Host().Order.Uint32(b[offset:]))
			if length == 0 {
				return fdes
			}
			if jit.Host().Order.Uint32(b[offset+4:]) != 0 {
				var f cfi.FDE
				if err := section.FDEAt(offset, &f); err != nil {
					m.t.Fatal(err)
				}
				if f.Start != f.End || !live {
					fdes = append(fdes, f)
				}
			}
			offset += 4 + length
		}
	}
	m.t.Fatalf("a section at %#x, which is not allocated", at)
	return nil
}

func (f *fake) unwinder() *unwinder {
	each := func(do func(uintptr)) func([]uintptr) {
		return func(addresses []uintptr) {
			for _, at := range addresses {
				do(at)
				f.check()
			}
		}
	}
	u := &unwinder{flavour: f.flavour, register: each(f.register), withdraw: each(f.withdraw)}
	if f.flavour == functionArray {
		u.registerFDEs, u.withdrawFDEs = each(f.registerFDE), each(f.withdrawKey)
	}
	return u
}

func (f *fake) register(at uintptr) {
	fdes := f.parse(at, false)
	if f.sections[at] != nil {
		f.t.Errorf("the section at %#x is registered twice", at)
	}
	p := &parsed{at: at, start: fdes[0].Start}
	for _, fde := range fdes {
		p.start, p.end = min(p.start, fde.Start), max(p.end, fde.End)
	}
	f.sections[at] = p
	switch f.flavour {
	case sectionList:
		f.unseen = append(f.unseen, p)
	case rangeTree:
		for _, other := range f.seen {
			if other.start < p.end && p.start < other.end {
				f.t.Errorf("the ranges [%#x, %#x) and [%#x, %#x) overlap", other.start, other.end, p.start, p.end)
			}
		}
		p.fdes = fdes
		f.see(p)
	case functionArray:
		for _, fde := range fdes {
			f.array = append(f.array, arrayEntry{at, fde.Start, fde.End, at})
		}
	}
}

func (f *fake) withdraw(at uintptr) {
	p := f.sections[at]
	if p == nil {
		f.t.Errorf("flavour %d: abort: the section at %#x is withdrawn, and was not registered", f.flavour, at)
		return
	}
	if start := f.parse(at, false)[0].Start; f.flavour == rangeTree && start != p.start {
		f.t.Errorf("abort: the section at %#x started at %#x, and now at %#x", at, p.start, start)
	}
	delete(f.sections, at)
	is := func(q *parsed) bool { return q == p }
	f.seen, f.unseen = slices.DeleteFunc(f.seen, is), slices.DeleteFunc(f.unseen, is)
	if f.flavour == functionArray {
		f.withdrawKey(at)
	}
}

func (f *fake) registerFDE(at uintptr) {
	for start, b := range f.memory {
		if at < start || at >= start+uintptr(len(b)) {
			continue
		}
		section := &cfi.Section{Name: "section", Machine: jit.Host(), Data: b, Address: uint64(start)}
		var fde cfi.FDE
		if err := section.FDEAt(uint64(at-start), &fde); err != nil {
			f.t.Fatal(err)
		}
		f.array = append(f.array, arrayEntry{at, fde.Start, fde.End, at})
		return
	}
	f.t.Fatalf("an FDE at %#x, which is not allocated", at)
}

func (f *fake) withdrawKey(at uintptr) {
	f.array = slices.DeleteFunc(f.array, func(e arrayEntry) bool { return e.key == at })
}

// known reports whether a lookup of an address finds a function.
func (f *fake) known(pc uint64) bool {
	switch f.flavour {
	case functionArray:
		return slices.ContainsFunc(f.array, func(e arrayEntry) bool { return e.start <= pc && pc < e.end })
	case rangeTree:
		i := f.below(pc)
		return i < len(f.seen) && f.finds(f.seen[i], pc)
	}
	if i := f.below(pc); i < len(f.seen) && f.finds(f.seen[i], pc) {
		return true
	}
	for len(f.unseen) > 0 {
		p := f.unseen[len(f.unseen)-1]
		f.unseen = f.unseen[:len(f.unseen)-1]
		f.see(p)
		if f.finds(p, pc) {
			return true
		}
	}
	return false
}

// below returns the index of the section with the closest start at or below an address.
func (f *fake) below(pc uint64) int {
	return sort.Search(len(f.seen), func(i int) bool { return f.seen[i].start <= pc })
}

// see inserts a section after those with the same start.
func (f *fake) see(p *parsed) {
	i := sort.Search(len(f.seen), func(i int) bool { return f.seen[i].start < p.start })
	f.seen = slices.Insert(f.seen, i, p)
}

// finds searches a section. libgcc sorts it at the first lookup.
func (f *fake) finds(p *parsed, pc uint64) bool {
	if p.fdes == nil {
		p.fdes = f.parse(p.at, false)
	}
	for _, old := range p.fdes {
		if pc < old.Start || pc >= old.End {
			continue
		}
		// libgcc reads the size again, as the word after the start.
		width := uint64(jit.Host().AddressSize)
		size := make([]byte, 8)
		copy(size, old.CIE.Section.Data[old.Offset+8+width:][:width])
		if pc-old.Start < binary.LittleEndian.Uint64(size) {
			return true
		}
	}
	return false
}
