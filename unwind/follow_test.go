// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// compareWalks walks a stack by Walk with a new walker, and by Follow along a trail, and
// reports differences.
func compareWalks(w *unwind.Walker, t *unwind.Trail, r *unwind.Registers) error {
	fresh := &unwind.Walker{Machine: w.Machine, Modules: w.Modules, Memory: w.Memory, Stack: w.Stack, MaxFrames: w.MaxFrames}
	var want []unwind.Step
	sp := uint64(w.Machine.StackPointer)
	for f := range fresh.Walk(r) {
		s := unwind.Step{PC: f.PC, LookupPC: f.LookupPC, Method: f.Method, Gap: f.Gap, Interrupted: f.Interrupted, Trampoline: f.Trampoline}
		s.SP, _ = f.Registers.Get(sp)
		want = append(want, s)
	}
	old := make([]unwind.Step, t.Len())
	for i := range old {
		old[i] = t.At(i)
	}
	w.Follow(t, r)
	if n := t.Len(); n != len(want) {
		return fmt.Errorf("%d frames, want %d (%v, %v; want %v, %v)", n, len(want), w.Reason(), w.Err(), fresh.Reason(), fresh.Err())
	}
	for i, s := range want {
		if got := t.At(i); got != s || t.LookupPC(i) != s.LookupPC {
			return fmt.Errorf("frame %d of %d is %+v, want %+v", i, len(want), got, s)
		}
	}
	if w.Reason() != fresh.Reason() || fmt.Sprint(w.Err()) != fmt.Sprint(fresh.Err()) {
		return fmt.Errorf("%v, %v; want %v, %v", w.Reason(), w.Err(), fresh.Reason(), fresh.Err())
	}
	k := t.Kept()
	if k > min(len(old), len(want)) || !slices.Equal(old[len(old)-k:], want[len(want)-k:]) {
		return fmt.Errorf("%d of %d frames are said to be those of the walk before, of %d", k, len(want), len(old))
	}
	return nil
}

func TestFollow(t *testing.T) {
	for _, test := range slices.Concat(ruleTests, signalTests, switchTests, machineTests) {
		t.Run(test.name, func(t *testing.T) {
			var modules unwind.Modules
			modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: unwind.Compile(test.section(t))})
			w := &unwind.Walker{Machine: test.machine, Modules: &modules, Memory: test.memory}
			r := registers(test.pc, test.registers)
			var trail unwind.Trail
			for _, stack := range []unwind.Stack{{}, {Address: stackAt, Bytes: test.memory[stackAt]}} {
				w.Stack = stack
				for range 3 {
					if err := compareWalks(w, &trail, r); err != nil {
						t.Error(err)
					}
				}
				trail.Forget()
			}
		})
	}
}

// A program has functions of all kinds that a stack can hold.
type program struct {
	machine *arch.Machine
	modules unwind.Modules
	code    memory
	// Addresses that calls return to, by kind of frame.
	kinds []frameKind
}

type frameKind struct {
	pc    uint64
	build func(s *fakeStack)
}

// fakeStack is a stack that is built from the outermost frame down.
type fakeStack struct {
	words []uint64 // the highest first
	fp    uint64   // the frame pointer of the frame that is built
	rbx   uint64
	pc    uint64 // that the frame returns to
	r     *rand.Rand
}

const fakeTop = 0x7ffff000 // the highest address of the fake stack

func (s *fakeStack) sp() uint64 { return fakeTop - 8*uint64(len(s.words)) }

func (s *fakeStack) push(v uint64) { s.words = append(s.words, v) }

func (s *fakeStack) pad(n int) {
	for range n {
		s.push(s.r.Uint64N(0x9000))
	}
}

// newProgram makes a program of x86-64.
func newProgram(tb testing.TB) *program {
	p := &program{machine: x86, code: memory{0x5000: append(make([]byte, 0x100), 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05)}}
	section := build(tb, x86, "", "0c0708 9001",
		function{0x1000, 0x1100, "0e20"},                           // CFA = rsp+32
		function{0x1100, 0x1200, "0e20 8602"},                      // rbp at CFA-16
		function{0x1200, 0x1300, "0e10 8602 0d06"},                 // CFA = rbp+16
		function{0x1300, 0x1400, "0e20 8303"},                      // rbx at CFA-24
		function{0x1400, 0x1500, "0f03 7670 06 1006 02 7600"},      // realigned: CFA = *(rbp-16), rbp at rbp
		function{0x1500, 0x1600, "0c0310"},                         // CFA = rbx+16
		function{0x1600, 0x1700, "0f0b 7708 8000 3f1a3b2a3324 22"}, // of a PLT
		function{0x1700, 0x1800, "0710"},                           // outermost
		function{0x1800, 0x1900, "0e20 0706"},                      // rbp lost
		function{0x1900, 0x1a00, "0e20 09060c 8d03"},               // rbp = r12, r13 at CFA-24
		function{0x1a00, 0x1b00, "0e9001 8602 8304"},
		// [0x5000, 0x6000) has no rules.
	)
	p.modules.Add(0x1000, 0x5000, &unwind.Module{Name: "program", Source: unwind.Compile(section)})
	p.modules.Add(0x5000, 0x6000, nil)
	// The signal trampoline of glibc: each register has a slot in the context.
	signals := build(tb, x86, "S", "0f04 77a00106 1010 03 77a801 1006 03 77f800 1003 03 778001", function{0x20, 0x40, ""})
	p.modules.Add(0x6000, 0x7000, &unwind.Module{Name: "libc", Bias: 0x6000, Source: &unwind.Sections{EHFrame: signals}})
	plain := func(words int) func(s *fakeStack) {
		return func(s *fakeStack) { s.push(s.pc); s.pad(words - 1) }
	}
	p.kinds = []frameKind{
		{0x1050, plain(4)},
		{0x1150, func(s *fakeStack) { s.push(s.pc); s.push(s.fp); s.pad(2); s.fp = s.r.Uint64N(1 << 40) }},
		{0x1250, func(s *fakeStack) { s.push(s.pc); s.push(s.fp); s.fp = s.sp(); s.pad(s.r.IntN(9)) }},
		{0x1350, func(s *fakeStack) { s.push(s.pc); s.push(7); s.push(s.rbx); s.push(9); s.rbx = s.r.Uint64N(100) }},
		{0x1450, func(s *fakeStack) {
			cfa := s.sp()
			s.push(s.pc)
			s.pad(s.r.IntN(4)) // to align it
			s.push(s.fp)
			s.fp = s.sp()
			s.push(1)
			s.push(cfa)
			s.pad(s.r.IntN(9))
		}},
		{0x1550, func(s *fakeStack) { cfa := s.sp(); s.push(s.pc); s.pad(3); s.rbx = cfa - 16 }},
		{0x1605, plain(1)},
		{0x160e, plain(2)},
		{0x1850, plain(4)},
		{0x1950, plain(4)},
		{0x1a50, func(s *fakeStack) { s.push(s.pc); s.push(s.fp); s.pad(1); s.push(s.rbx); s.pad(14) }},
		{0x5050, func(s *fakeStack) { s.push(s.pc); s.push(s.fp); s.fp = s.sp(); s.pad(s.r.IntN(9)) }}, // no rules
		{0x6020, func(s *fakeStack) { s.signal(s.pc) }},
		{0x5100, func(s *fakeStack) { s.signal(s.pc) }}, // found by its code
	}
	return p
}

// signal pushes the struct ucontext that the kernel pushes for a handler.
func (s *fakeStack) signal(pc uint64) {
	var context [32]uint64
	sp := s.sp()
	context[5+15], context[5+16] = sp, pc
	context[5+10], context[5+11] = s.fp, s.rbx
	for _, v := range slices.Backward(context[:]) {
		s.push(v)
	}
}

// stack makes a stack of n random frames above an outermost one, and the registers
// of its innermost.
func (p *program) stack(r *rand.Rand, kinds []int) (unwind.Stack, *unwind.Registers) {
	s := &fakeStack{r: r, pc: 0x1750, fp: 0}
	s.pad(4)
	for _, k := range kinds {
		kind := &p.kinds[k]
		kind.build(s)
		s.pc = kind.pc
	}
	regs := registers(s.pc, map[uint64]uint64{7: s.sp(), 6: s.fp, 3: s.rbx, 12: r.Uint64N(3), 13: 13})
	b := make([]byte, 8*len(s.words))
	for i, v := range slices.Backward(s.words) {
		binary.LittleEndian.PutUint64(b[len(b)-8*(i+1):], v)
	}
	return unwind.Stack{Address: s.sp(), Bytes: b}, regs
}

// random returns a kind of frame, most often one that is not outermost.
func (p *program) random(r *rand.Rand) int {
	if r.IntN(16) == 0 {
		return r.IntN(len(p.kinds))
	}
	return []int{0, 1, 2, 3, 4, 6, 7, 10, 12}[r.IntN(9)]
}

// successor returns the frames of a stack made from those of the previous sample, the
// outermost first.
func (p *program) successor(r *rand.Rand, kinds []int) []int {
	next := slices.Clone(kinds)
	switch r.IntN(4) {
	case 0: // the innermost frames change
		next = next[:len(next)-r.IntN(min(len(next), 5)+1)]
		for range r.IntN(5) {
			next = append(next, p.random(r))
		}
	case 1: // outer frames change, too
		next = next[:r.IntN(len(next)+1)]
		for range r.IntN(40) {
			next = append(next, p.random(r))
		}
	case 2: // one frame changes
		if len(next) > 0 {
			next[r.IntN(len(next))] = p.random(r)
		}
	}
	return next
}

// followSamples compares walks of successive samples of one thread.
func followSamples(tb testing.TB, p *program, seed uint64, n int) (kept int) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &unwind.Walker{Machine: p.machine, Modules: &p.modules}
	var trail unwind.Trail
	var kinds []int
	code := true
	for i := range n {
		if r.IntN(20) == 0 {
			// Code becomes unreadable, or readable again.
			code = !code
			p.modules.Changed()
		}
		kinds = p.successor(r, kinds)
		// The same padding keeps the addresses of the outer frames.
		stack, regs := p.stack(rand.New(rand.NewPCG(seed, 2)), kinds)
		if r.IntN(8) == 0 {
			for range 1 + r.IntN(3) { // a word changes: to an address, to a stack pointer, to another value
				at := 8 * r.IntN(len(stack.Bytes)/8)
				word := []uint64{p.kinds[r.IntN(len(p.kinds))].pc, stack.Address + r.Uint64N(uint64(len(stack.Bytes))), r.Uint64(), 0}[r.IntN(4)]
				binary.LittleEndian.PutUint64(stack.Bytes[at:], word)
			}
		}
		if r.IntN(8) == 0 {
			regs.Set([]uint64{3, 6, 12}[r.IntN(3)], r.Uint64N(0x9000))
		}
		if r.IntN(16) == 0 {
			regs.Forget([]uint64{3, 6, 7, 12}[r.IntN(4)])
		}
		whole := memory{}
		if w.Memory = nil; code {
			whole = p.code
			w.Memory = whole
		}
		switch r.IntN(9) {
		case 0: // the copy is truncated
			stack.Bytes = stack.Bytes[:r.IntN(len(stack.Bytes)+1)]
		case 1: // memory has the other part
			whole = memory{stack.Address: slices.Clone(stack.Bytes), 0x5000: whole[0x5000]}
			stack.Bytes = stack.Bytes[:r.IntN(len(stack.Bytes)+1)]
			w.Memory = whole
		case 2: // the copy starts later
			cut := r.IntN(len(stack.Bytes)/8+1) * 8
			whole = memory{stack.Address: slices.Clone(stack.Bytes), 0x5000: whole[0x5000]}
			stack.Address, stack.Bytes = stack.Address+uint64(cut), stack.Bytes[cut:]
			w.Memory = whole
		}
		if r.IntN(20) == 0 {
			p.modules.Add(0x5000, 0x6000, nil)
		}
		w.MaxFrames = 0
		if r.IntN(8) == 0 {
			w.MaxFrames = 1 + r.IntN(50)
		}
		w.Stack = stack
		if err := compareWalks(w, &trail, regs); err != nil {
			tb.Fatalf("seed %d, sample %d: %v", seed, i, err)
		}
		kept += trail.Kept()
	}
	return kept
}

func TestFollowSamples(t *testing.T) {
	p := newProgram(t)
	kept := 0
	for seed := range uint64(20) {
		kept += followSamples(t, p, seed, 300)
	}
	if kept < 10_000 {
		t.Errorf("only %d frames were kept of those of the samples before", kept)
	}
}

func FuzzFollow(f *testing.F) {
	p := newProgram(f)
	f.Add(uint64(1), uint8(10))
	f.Add(uint64(2), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) { followSamples(t, p, seed, int(n)%64) })
}
