// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// frame is the table of a function that sets up its frame at +4.
func frame(t testing.TB, size int64) *cfi.Program {
	t.Helper()
	p, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).At(4).AdjustCFAOffset(size).Program()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const arena = 0x10000000

// code describes functions of 32 bytes at slots of the arena. Of more than two, the last ones are in
// a range of their own, and an empty one follows.
func code(p *cfi.Program, slots ...int) *jit.Code {
	n := len(slots)
	c := &jit.Code{Address: arena, Text: make([]byte, 32*(slots[n-1]+1))}
	for _, slot := range slots {
		c.Functions = append(c.Functions, jit.Function{Name: fmt.Sprint("f", slot), Offset: 32 * uint64(slot), Size: 32, Unwind: p})
	}
	if n > 2 {
		from := 32 * uint64(slots[n/2])
		c.Ranges = []jit.Range{{Address: arena + from, Text: c.Text[from:]}}
		c.Text = c.Text[:from]
		for i := n / 2; i < n; i++ {
			c.Functions[i].Range = 1
			c.Functions[i].Offset -= from
		}
		c.Functions = append(c.Functions, jit.Function{Unwind: p})
	}
	return c
}

// TestModel publishes and withdraws at random with models of the unwinders. After each
// call of an unwinder all functions that stay are known, and after each operation no
// others.
func TestModel(t *testing.T) {
	for _, flavours := range [][]flavour{
		{sectionList}, {rangeTree}, {functionArray},
		{sectionList, functionArray}, {functionArray, rangeTree}, {rangeTree, sectionList, functionArray},
	} {
		t.Run(fmt.Sprint(flavours), func(t *testing.T) {
			for seed := range uint64(3) {
				testModel(t, seed, flavours...)
			}
		})
	}
}

func testModel(t *testing.T, seed uint64, flavours ...flavour) {
	r, m := newModel(t, flavours...)
	random := rand.New(rand.NewPCG(seed, 3))
	programs := []*cfi.Program{frame(t, 16), frame(t, 32)}
	const slots = 200
	owner := make(map[int]*batch) // by slot
	index := make(map[int]int)    // index in the batch
	staying := make(map[int]bool)
	m.check = func() {
		for slot := range staying {
			for _, f := range m.fakes {
				if pc := uint64(arena + 32*slot); !f.known(pc) || !f.known(pc+31) {
					t.Fatalf("seed %d, flavour %d: slot %d stays, and is unknown for a moment", seed, f.flavour, slot)
				}
			}
		}
	}
	for range 70 {
		clear(staying)
		for slot := range owner {
			staying[slot] = true
		}
		if random.IntN(5) < 3 {
			from, n, step := random.IntN(slots), 1+random.IntN(12), 1+random.IntN(3)
			var free []int
			for slot := from; slot < slots && len(free) < n; slot += step {
				if owner[slot] == nil {
					free = append(free, slot)
				}
			}
			if len(free) == 0 {
				continue
			}
			b, err := r.publish(code(programs[random.IntN(2)], free...))
			if err != nil {
				t.Fatal(err)
			}
			for i, slot := range free {
				owner[slot], index[slot] = b, i
			}
		} else if len(owner) > 0 {
			all := slices.Sorted(maps.Keys(owner))
			slot := all[random.IntN(len(all))]
			b := owner[slot]
			var gone []int // nil means the whole batch
			if random.IntN(2) == 0 {
				gone = []int{index[slot], index[slot]}
			}
			for slot := range owner {
				if owner[slot] == b && (gone == nil || slices.Contains(gone, index[slot])) {
					delete(owner, slot)
					delete(staying, slot)
				}
			}
			err := b.WithdrawFunctions(gone...)
			if gone == nil {
				err = errors.Join(err, b.Withdraw())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for slot := range slots {
			for _, f := range m.fakes {
				if known, published := f.known(arena+32*uint64(slot)), owner[slot] != nil; known != published {
					t.Fatalf("seed %d, flavour %d, slot %d: known %v, published %v", seed, f.flavour, slot, known, published)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for slot := range owner {
		delete(staying, slot)
	}
	clear(staying)
	for _, b := range owner {
		if err := b.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	for _, retired := range r.retired {
		m.release(retired.memory)
	}
	if len(m.memory) != 0 || len(r.index.leaves) != 0 {
		t.Errorf("seed %d: %d pieces of memory and %d leaves are left", seed, len(m.memory), len(r.index.leaves))
	}
}

// TestSections checks that libgcc gets one section for a batch, and few sections for
// functions published one by one.
func TestSections(t *testing.T) {
	const n = 2000
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	p := frame(t, 16)
	r, m := newModel(t, sectionList)
	if _, err := r.publish(code(p, all...)); err != nil {
		t.Fatal(err)
	}
	if sections := len(m.fakes[0].sections); sections != 1 {
		t.Errorf("a batch of %d functions is %d sections, expected 1", n, sections)
	}
	for name, order := range map[string][]int{"ascending": all, "random": rand.New(rand.NewPCG(1, 2)).Perm(n)} {
		r, m := newModel(t, sectionList)
		for _, slot := range order {
			if _, err := r.publish(code(p, slot)); err != nil {
				t.Fatal(err)
			}
		}
		if sections := len(m.fakes[0].sections); sections > n/8 {
			t.Errorf("%s: %d functions published one by one are %d sections, expected at most %d", name, n, sections, n/8)
		}
	}
}

// TestGoldenCPython checks that the section for CPython's compiled shim is what CPython
// registers: its eh_frame and a terminator.
func TestGoldenCPython(t *testing.T) {
	if jit.Host() == nil || jit.Host().Name != "x86-64" {
		t.Skip("skipped: the golden bytes are for amd64")
	}
	cie, err := cfi.NewBuilder(cfi.NewCIE(jit.Host())).DefCFA(6, 16).Offset(6, -16).Offset(16, -8).CIE()
	if err != nil {
		t.Fatal(err)
	}
	p, err := cfi.NewBuilder(cie).Program()
	if err != nil {
		t.Fatal(err)
	}
	r, m := newModel(t, sectionList)
	if _, err := r.publish(&jit.Code{
		Address: 0x7f0012340000, Text: make([]byte, 0x40),
		Functions: []jit.Function{{Name: "shim", Size: 0x40, Unwind: p}},
	}); err != nil {
		t.Fatal(err)
	}
	want := "\x14\x00\x00\x00\x00\x00\x00\x00\x01\x7a\x52\x00\x01\x78\x10\x01\x00\x0c\x06\x10\x86\x02\x90\x01" +
		"\x1c\x00\x00\x00\x1c\x00\x00\x00\x00\x00\x34\x12\x00\x7f\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	for _, b := range m.memory {
		if got := string(b[:len(want)]); got != want {
			t.Errorf("registered:\n% x\nexpected:\n% x", got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	m := jit.Host()
	build := func(f func(b *cfi.Builder)) *cfi.Program {
		b := cfi.NewBuilder(cfi.EntryCIE(m)).At(4)
		f(b)
		p, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	expression := func(e ...byte) *cfi.Program { // the builder checks them too
		instructions := binary.AppendUvarint([]byte{byte(cfi.CFADefCFAExpression)}, uint64(len(e)))
		return &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: append(instructions, e...)}
	}
	noCFA, err := cfi.NewBuilder(cfi.NewCIE(m)).Program()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		program *cfi.Program
		ok      bool
	}{
		{"no CFA", noCFA, false},
		{"bytes that are no instruction", &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: []byte{0x3f, 0xff, 0xff}}, false},
		{"cut short", &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: []byte{0x41, 0, 0, 0, 0, 0x0c, 0x87}}, false},
		{"restore_state alone", &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: []byte{0x41, 0x0b}}, false},
		{"an advance past the end", &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: []byte{0x7f, 0x0e, 0x10}}, false},
		{"CFA from a vector register", build(func(b *cfi.Builder) { b.DefCFA(64, 16) }), false},
		{"a register in a register that is none", build(func(b *cfi.Builder) { b.Register(3, 1<<20) }), false},
		{"an unknown column restored", build(func(b *cfi.Builder) { b.Undefined(1 << 20) }), true},
		{"an address space", build(func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFALLVMDefAspaceCFA, Register: 7}) }), false},
		{"a MIPS advance", &cfi.Program{CIE: cfi.EntryCIE(m), Instructions: []byte{0x1d, 1, 0, 0, 0, 0, 0, 0, 0}}, false},
		{"no expression", expression(), false},
		{"deref(breg7+8)", expression(0x77, 8, 0x06), true},
		{"an empty stack", expression(0x06), false},
		{"a stack that runs empty", expression(0x30, 0x22), false},
		{"pick of the lowest", expression(0x30, 0x31, 0x15, 1), false},
		{"pick", expression(0x30, 0x31, 0x32, 0x15, 1), true},
		{"an unknown operation", expression(0x30, 0xe5), false},
		{"the canonical frame address", expression(0x9c), false},
		{"deref of 3 bytes", expression(0x77, 0, 0x94, 3), false},
		{"deref of 4 bytes", expression(0x77, 0, 0x94, 4), true},
		{"a register that cannot be read", expression(0x92, 0xc0, 0, 0), false},
		{"the sum of 64", expression(slices.Concat(slices.Repeat([]byte{0x31}, 64), slices.Repeat([]byte{0x22}, 63))...), true},
		{"65 on the stack", expression(slices.Concat(slices.Repeat([]byte{0x31}, 65), slices.Repeat([]byte{0x22}, 64))...), false},
		{"a loop", expression(0x31, 0x2f, 0xfc, 0xff), false},
		{"a branch", expression(0x77, 0, 0x31, 0x28, 2, 0, 0x23, 8, 0x06), true},
		{"a branch into an operation", expression(0x77, 0, 0x31, 0x28, 1, 0, 0x23, 8, 0x06), false},
		{"a branch past the end", expression(0x77, 0, 0x31, 0x28, 9, 0, 0x06), false},
		{"a branch to another depth", expression(0x77, 0, 0x31, 0x28, 1, 0, 0x31, 0x96), false},
		{"DRAP", build(func(b *cfi.Builder) { b.Expression(6, []byte{0x76, 0}) }), true},
	} {
		r, m := newModel(t, sectionList, functionArray)
		_, err := r.publish(code(test.program, 1))
		// Code.Check finds instructions that do not decode, before this publisher looks at them.
		if test.ok && err != nil || !test.ok && !errors.Is(err, ErrTable) && !errors.Is(err, jit.ErrCode) {
			t.Errorf("%s: %v, expected ok %v", test.name, err, test.ok)
		}
		if !test.ok && len(m.memory) != 0 {
			t.Errorf("%s: %d pieces of memory are left", test.name, len(m.memory))
		}
	}
}

func TestRefusedCIE(t *testing.T) {
	m := jit.Host()
	for name, change := range map[string]func(*cfi.CIE){
		"version":      func(c *cfi.CIE) { c.Version = 5 },
		"segments":     func(c *cfi.CIE) { c.Version, c.AddressSize, c.SegmentSize = 4, uint8(m.AddressSize), 2 },
		"augmentation": func(c *cfi.CIE) { c.Augmentation = "eh" },
		"letter":       func(c *cfi.CIE) { c.Augmentation = "zRX" },
		"tagged":       func(c *cfi.CIE) { c.MTETagged = true },
		"column":       func(c *cfi.CIE) { c.ReturnAddress = 200 },
	} {
		cie := *cfi.EntryCIE(m)
		change(&cie)
		r, _ := newModel(t, sectionList)
		if _, err := r.publish(code(&cfi.Program{CIE: &cie}, 1)); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v, expected ErrTable", name, err)
		}
	}
}

func TestRegistry(t *testing.T) {
	p := frame(t, 16)
	r, _ := newModel(t)
	if _, err := r.publish(code(p, 1)); !errors.Is(err, jit.ErrNotApplicable) {
		t.Errorf("without an unwinder: %v, expected ErrNotApplicable", err)
	}
	r, m := newModel(t, sectionList)
	if _, err := r.publish(&jit.Code{}); !errors.Is(err, jit.ErrCode) {
		t.Errorf("no functions: %v, expected ErrCode", err)
	}
	other := code(nil, 1)
	other.Machine = arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	if _, err := r.publish(other); !errors.Is(err, jit.ErrNotApplicable) {
		t.Errorf("another machine: %v, expected ErrNotApplicable", err)
	}

	none, err := r.publish(code(nil, 1, 2))
	if err != nil || len(m.memory) != 0 {
		t.Errorf("no tables: %v, and %d pieces of memory", err, len(m.memory))
	}
	for range 2 {
		if err := errors.Join(none.Withdraw(), none.WithdrawFunctions(1)); err != nil {
			t.Error(err)
		}
	}

	b, err := r.publish(code(p, 1, 3, 5))
	if err != nil {
		t.Fatal(err)
	}
	for name, slots := range map[string][]int{"f3": {3}, "f5": {5, 6}, "f1": {0, 1}} {
		_, err := r.publish(code(p, slots...))
		at := arena + 32*slots[slices.IndexFunc(slots, func(slot int) bool { return fmt.Sprint("f", slot) == name })]
		want := fmt.Sprintf(`function %q at %#x: published already: it overlaps a function of 0x20 bytes at %#[2]x`, name, at)
		if !errors.Is(err, jit.ErrPublished) || err.Error() != want {
			t.Errorf("slots %d again: %v, expected %s", slots, err, want)
		}
	}
	// One starts in another function, and one ends in it.
	for shift, want := range map[int]string{16: "f3", -16: "f3"} {
		c := code(p, 3)
		c.Address += uint64(shift)
		if _, err := r.publish(c); !errors.Is(err, jit.ErrPublished) || !strings.Contains(err.Error(), fmt.Sprintf("function %q at %#x:", want, arena+96+shift)) {
			t.Errorf("shifted by %d: %v", shift, err)
		}
	}
	for _, i := range []int{-1, 4} {
		if err := b.WithdrawFunctions(0, i); !errors.Is(err, jit.ErrCode) || !m.fakes[0].known(arena+32) {
			t.Errorf("withdrawing function %d: %v, expected ErrCode and nothing withdrawn", i, err)
		}
	}
	if err := errors.Join(b.WithdrawFunctions(1, 1), b.WithdrawFunctions(1), b.Withdraw(), b.Withdraw(), b.WithdrawFunctions(2)); err != nil {
		t.Error(err)
	}
	if len(m.memory) != 0 {
		t.Errorf("%d pieces of memory are left", len(m.memory))
	}
}

// TestGrace checks that a replaced section stays readable for a while, and that its
// memory is released after that.
func TestGrace(t *testing.T) {
	r, m := newModel(t, sectionList)
	p := frame(t, 16)
	b, err := r.publish(code(p, 1, 5))
	if err != nil {
		t.Fatal(err)
	}
	var amid []*batch
	for _, slot := range []int{3, 4} {
		b, err := r.publish(code(p, slot))
		if err != nil {
			t.Fatal(err)
		}
		amid = append(amid, b)
	}
	if len(r.retired) != 1 || m.memory[addressOf(r.retired[0].memory)] == nil {
		t.Fatalf("%d sections are retired, expected that of the slots 1, 3 and 5", len(r.retired))
	}
	r.retired[0].at = r.retired[0].at.Add(-grace)
	for _, b := range append(amid, b) {
		if err := b.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.retired) != 0 || len(m.memory) != 0 {
		t.Errorf("%d sections are retired, and %d pieces of memory are left", len(r.retired), len(m.memory))
	}
}

// FuzzProgram checks that a table is refused, or that an unwinder finds its function.
func FuzzProgram(f *testing.F) {
	for _, seed := range [][2]string{
		{"", "\x44\x0e\x20"}, {"\x0c\x07\x08\x90\x01", "\x0a\x0b"}, {"", "\x0f\x04\x77\x08\x06\x96"},
		{"\x0f\x07\x77\x00\x28\x01\x00\x31\x96", "\x2d\x2e\x08"}, {"\x0c\x40\x00", "\x09\x03\x80\x80\x40"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), uint64(1))
	}
	f.Add([]byte{}, []byte{}, uint64(80))
	f.Fuzz(func(t *testing.T, initial, instructions []byte, column uint64) {
		cie := *cfi.NewCIE(jit.Host())
		if len(initial) > 0 {
			cie.Section = &cfi.Section{Name: "CIE", Machine: jit.Host(), Data: initial}
			cie.Instructions = initial
		}
		cie.ReturnAddress = column
		r, m := newModel(t, sectionList, functionArray)
		b, err := r.publish(code(&cfi.Program{CIE: &cie, Instructions: instructions}, 1))
		if (b == nil) == (err == nil) {
			t.Fatalf("%v, %v", b, err)
		}
		if err == nil {
			for _, fake := range m.fakes {
				if !fake.known(arena + 32) {
					t.Errorf("flavour %d does not know the function", fake.flavour)
				}
			}
			err = b.Withdraw()
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(m.memory) != 0 {
			t.Errorf("%d pieces of memory are left", len(m.memory))
		}
	})
}
