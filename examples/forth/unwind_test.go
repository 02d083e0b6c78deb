// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/jit"
)

var machines = map[string]*arch.Machine{
	"amd64": arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	"arm64": arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
}

// TestUnwindTables follows the code of words along all branches, and compares the places of the
// caller's registers with the unwind table, at every instruction.
func TestUnwindTables(t *testing.T) {
	sources := make([]string, 0, len(programs)+20)
	for _, p := range programs {
		sources = append(sources, p.source)
	}
	seeds := uint64(20)
	if testing.Short() && runtime.GOARCH == "arm64" {
		seeds = 4 // emulation is slow
	}
	for seed := range seeds {
		g := &generator{rand: rand.New(rand.NewPCG(seed, 3))}
		sources = append(sources, g.program())
	}
	for name, m := range machines {
		for _, frames := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/frames=%v", name, frames), func(t *testing.T) {
				instructions := 0
				for _, source := range sources {
					p, err := forth.Compile("test.fth", []byte(source), &forth.Options{Machine: m, FramePointers: frames})
					if err != nil {
						t.Fatalf("%q: %v", source, err)
					}
					for i := range p.Functions {
						instructions += checkTable(t, p, &p.Functions[i], frames)
					}
					if t.Failed() {
						t.Fatalf("%q", source)
					}
				}
				if instructions < 5_000 {
					t.Errorf("%d instructions compared", instructions)
				}
			})
		}
	}
}

// place is a place of the caller's value of a register. There can be several.
type place struct {
	in   int   // a register; -1 in none
	slot int64 // CFA minus the address of the slot; 0 in none
}

// simulated is the known state before an instruction.
type simulated struct {
	frames bool  // all words have frame pointers
	sp     int64 // CFA minus the stack pointer
	fp     int64 // CFA minus the frame pointer; 0 where that holds something else
	saved  [2]place
}

// caller's registers, as indexes of saved.
const (
	framePointer = iota
	returnAddress
)

// step is the effect of an instruction.
type step struct {
	size   int
	target int64 // relative to the instruction; 0 without a branch
	ends   bool  // execution does not continue after it
}

// checkTable returns the number of compared instructions.
func checkTable(t *testing.T, p *forth.Program, f *jit.Function, frames bool) int {
	t.Helper()
	const start = 0x10000
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: p.Machine, Address: 0x1000}
	if err := e.Program(f.Unwind, start, f.Size); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	s := &cfi.Section{Name: ".eh_frame", Kind: cfi.EHFrame, Machine: p.Machine, Address: e.Address, Data: e.Data}
	text := p.Text[f.Offset:][:f.Size]

	simulate := simulateAMD64
	entry := simulated{frames: frames, sp: 8, saved: [2]place{{in: 6}, {in: -1, slot: 8}}}
	if p.Machine == machines["arm64"] {
		simulate = simulateARM64
		entry = simulated{frames: frames, saved: [2]place{{in: 29}, {in: 30}}}
	}
	before := map[int64]simulated{0: entry}
	for work := []int64{0}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		state := before[at]
		step, err := simulate(text[at:], &state)
		if err != nil {
			t.Errorf("%s+%#x: %v", f.Name, at, err)
			return 0
		}
		next := []int64{at + int64(step.size), at + step.target}
		if step.ends {
			next = next[1:]
		}
		if step.target == 0 {
			next = next[:len(next)-1]
		}
		for _, n := range next {
			if n < 0 || n >= int64(len(text)) {
				t.Errorf("%s+%#x: the code continues at +%#x, outside the word", f.Name, at, n)
				continue
			}
			known, ok := before[n]
			if ok && (known.sp != state.sp || known.fp != state.fp) {
				t.Errorf("%s+%#x: %+v, or %+v coming from +%#x", f.Name, n, known, state, at)
				return 0
			}
			both := state
			for i := range both.saved {
				if ok && known.saved[i].in != both.saved[i].in {
					both.saved[i].in = -1
				}
				if ok && known.saved[i].slot != both.saved[i].slot {
					both.saved[i].slot = 0
				}
			}
			if !ok || both != known {
				before[n] = both
				work = append(work, n)
			}
		}
	}

	compared := 0
	var x cfi.Interpreter
	for fde := range s.FDEs() {
		for row := range x.Rows(fde) {
			for at := int64(row.Start - start); at < int64(row.End-start); at++ {
				if state, ok := before[at]; ok {
					compareRow(t, fmt.Sprintf("%s+%#x", f.Name, at), p.Machine, row, state)
					compared++
				}
			}
		}
	}
	if err := x.Err(); err != nil {
		t.Errorf("%s: %v", f.Name, err)
	}
	if compared != len(before) {
		t.Errorf("%s: rows for %d of %d instructions", f.Name, compared, len(before))
	}
	return compared
}

func compareRow(t *testing.T, where string, m *arch.Machine, row *cfi.Row, state simulated) {
	t.Helper()
	var cfa int64 // 0 where the table is wrong about the register
	switch int(row.CFA.Register) {
	case m.StackPointer:
		cfa = row.CFA.Offset - state.sp
	case m.FramePointer:
		cfa = row.CFA.Offset - state.fp
		if state.fp == 0 {
			t.Errorf("%s: the CFA is found by the frame pointer, which is not set", where)
		}
	}
	if row.CFA.Kind != cfi.Register || cfa != 0 {
		t.Errorf("%s: the CFA is wrong by %d", where, cfa)
	}
	for n, column := range [2]int{m.FramePointer, m.ReturnAddress} {
		saved := state.saved[n]
		rule := row.Register(uint64(column))
		right := false
		switch rule.Kind {
		case cfi.Offset:
			right = saved.slot != 0 && rule.Offset == -saved.slot && saved.slot <= state.sp
		case cfi.Register:
			right = saved.in == int(rule.Register)
		case cfi.Undefined:
			right = saved == place{in: -1}
		case cfi.Unspecified, cfi.SameValue:
			right = saved.in == column
		}
		if !right {
			t.Errorf("%s: the caller's %s is %+v; the table has %v %d", where, m.RegisterName(uint64(column)), saved, rule.Kind, rule.Offset)
		}
	}
}

// push and pop change the stack pointer.
func (s *simulated) push(bytes int64) { s.sp += bytes }

func (s *simulated) pop(bytes int64) {
	s.sp -= bytes
	for n := range s.saved {
		if s.saved[n].slot > s.sp {
			s.saved[n].slot = 0 // below the stack pointer
		}
	}
}

// leave leaves all words. The caller is the host. Words without a frame pointer have not changed
// the host's.
func (s *simulated) leave() {
	s.fp = 0
	s.saved[framePointer].slot = 0
	if s.frames {
		s.saved[framePointer].in = -1
	}
}

func simulateAMD64(code []byte, s *simulated) (step, error) {
	i, err := x86asm.Decode(code, 64)
	if err != nil {
		return step{}, err
	}
	done := step{size: i.Len}
	first, _ := i.Args[0].(x86asm.Reg)
	if rel, ok := i.Args[0].(x86asm.Rel); ok && i.Op != x86asm.CALL {
		done.target = int64(i.Len) + int64(rel)
		done.ends = i.Op == x86asm.JMP
		return done, nil
	}
	switch {
	case i.Op == x86asm.PUSH:
		s.push(8)
		if first == x86asm.RBP {
			s.saved[framePointer].slot = s.sp
		}
	case i.Op == x86asm.POP && first != x86asm.RBP:
		s.pop(8)
	case i.Op == x86asm.LEAVE && s.fp != 0 && s.saved[framePointer].slot == s.fp:
		s.sp = s.fp - 8
		s.fp = 0
		s.saved[framePointer] = place{in: 6}
	case i.Op == x86asm.RET:
		if s.sp != 8 {
			return done, fmt.Errorf("it returns with %d bytes on the stack", s.sp-8)
		}
		done.ends = true
	case i.Op == x86asm.ADD && first == x86asm.RSP:
		s.pop(int64(i.Args[1].(x86asm.Imm)))
	case i.Op == x86asm.MOV && first == x86asm.RBP && i.Args[1] == x86asm.RSP:
		s.fp = s.sp
		s.saved[framePointer].in = -1
	case i.Op == x86asm.MOV && first == x86asm.RSP: // where the first word was called
		s.sp = 8
		s.leave()
	case i.Op == x86asm.CMP, i.Op == x86asm.CALL:
	case first == x86asm.RSP || first == x86asm.RBP:
		return done, fmt.Errorf("%v is not expected", i)
	}
	return done, nil
}

func simulateARM64(code []byte, s *simulated) (step, error) {
	i, err := arm64asm.Decode(code)
	if err != nil {
		return step{}, err
	}
	done := step{size: 4}
	word := binary.LittleEndian.Uint32(code)
	register := int(word & 31)
	switch text := strings.ToLower(i.String()); {
	case word&^31 == 0xf81f0fe0: // str xt, [sp, #-16]!
		s.push(16)
		if register == 30 {
			s.saved[returnAddress].slot = s.sp
		}
	case word&^31 == 0xf84107e0: // ldr xt, [sp], #16
		if register == 30 && s.saved[returnAddress].slot == s.sp {
			s.saved[returnAddress].in = 30
		}
		s.pop(16)
	case word == 0xa9bf27e0: // stp x0, x9, [sp, #-16]!
		s.push(16)
	case word == 0xa9bf7bfd: // stp x29, x30, [sp, #-16]!
		s.push(16)
		s.saved[framePointer].slot, s.saved[returnAddress].slot = s.sp, s.sp-8
	case word == 0xa8c17bfd: // ldp x29, x30, [sp], #16
		if s.saved[framePointer].slot == s.sp && s.saved[returnAddress].slot == s.sp-8 {
			s.saved[framePointer].in, s.saved[returnAddress].in, s.fp = 29, 30, 0
		}
		s.pop(16)
	case word == 0x910003fd: // mov x29, sp
		s.fp = s.sp
		s.saved[framePointer].in = -1
	case word == 0x910003bf && s.fp != 0: // mov sp, x29
		s.pop(s.sp - s.fp)
	case word&0xffc003ff == 0x910003ff: // add sp, sp, #n
		s.pop(int64(word >> 10 & 0xfff))
	case word == 0x9100021f: // mov sp, x16: where the first word was called
		s.sp = 0
		s.leave()
		s.saved[returnAddress] = place{in: 17}
	case i.Op == arm64asm.BL || i.Op == arm64asm.BLR:
		s.saved[returnAddress].in = -1
		if s.saved[returnAddress].slot == 0 {
			return done, fmt.Errorf("a call without the return address saved")
		}
	case i.Op == arm64asm.RET, word == 0xd61f0220: // br x17
		done.ends = true
		if s.sp != 0 || i.Op == arm64asm.RET && (s.saved[returnAddress].in != 30 || s.saved[framePointer].in != 29) {
			return done, fmt.Errorf("it returns with %+v", *s)
		}
	case i.Op == arm64asm.B || i.Op == arm64asm.CBZ:
		for _, a := range i.Args {
			if rel, ok := a.(arm64asm.PCRel); ok {
				done.target = int64(rel)
			}
		}
		done.ends = word>>26 == 5 // without a condition
	case i.Op == arm64asm.LDR || i.Op == arm64asm.STR || i.Op == arm64asm.CMP:
		if strings.Contains(text, "sp]!") || strings.Contains(text, "[sp],") || strings.HasPrefix(text, "ldr x29") || strings.HasPrefix(text, "ldr x30") {
			return done, fmt.Errorf("%s is not expected", text)
		}
	case slices.Contains(i.Args[:1], arm64asm.Arg(arm64asm.RegSP(arm64asm.SP))), strings.Contains(text, " x29"), strings.Contains(text, " x30"):
		return done, fmt.Errorf("%s is not expected", text)
	}
	return done, nil
}
