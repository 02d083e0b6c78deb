// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package codeframe finds the frame of an x86-64 function by its instructions: the
// distance from the stack pointer to the return address, and the slots of saved registers.
// It follows all paths from the start of the function to the frame's address, and ends a
// path at an instruction that it does not understand.
//
// The package reads no memory, and does not check return addresses.
package codeframe

import (
	"bytes"
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/arch"
)

// Knows reports whether the package analyses a machine's code.
func Knows(m *arch.Machine) bool { return m.ELF == elf.EM_X86_64 }

// Slot is the place of a saved callee-saved register.
type Slot struct {
	Column int   // psABI amd64, Figure 3.36
	Offset int64 // from the CFA, in bytes
	Lost   bool  // the value is unknown: it is saved on some paths only, or not at all
}

// Frame is the frame of a function at one of its instructions.
type Frame struct {
	// The CFA is the register of the column CFA plus Offset bytes.
	CFA    int
	Offset int64
	Saved  []Slot // by ascending column

	// Zeroed reports that the function has set the frame pointer to zero without saving it,
	// as the first function of a stack does (psABI amd64 §3.4.1). First reports that its
	// first instruction did so; the CFA is then unknown.
	Zeroed, First bool
}

const (
	columnRBP = 6
	columnRSP = 7
)

// most bounds the instructions that are decoded for one frame.
const most = 1 << 14

// maxDepth is larger than any frame, in bytes.
const maxDepth = 1 << 24

// Find returns the frame at offset pc in the code of a function. If called is true the frame
// waits for a call to return, and pc is its return address. decoded is the number of
// decoded instructions, also if ok is false.
func Find(code []byte, pc int, called bool) (f Frame, decoded int, ok bool) {
	a := analysis{code: code, met: make([]int32, len(code)), pc: pc, called: called}
	a.reach(0, state{depth: 8})
	for len(a.todo) > 0 {
		at := a.todo[len(a.todo)-1]
		a.todo = a.todo[:len(a.todo)-1]
		if !a.from(at) {
			return f, a.decoded, false
		}
	}
	if !a.found {
		return f, a.decoded, false
	}
	f, ok = a.there.frame()
	return f, a.decoded, ok
}

// analysis follows all paths through the code of a function.
type analysis struct {
	code    []byte
	pc      int
	called  bool
	met     []int32 // by offset of an instruction: 1 + index of the state before it, 0 if not reached
	states  []state
	todo    []int
	decoded int

	there state // at the frame's address
	found bool
}

// reach records that a path leads to an instruction.
func (a *analysis) reach(at int, s state) {
	if at < 0 || at >= len(a.code) {
		return
	}
	if k := a.met[at]; k == 0 {
		a.states = append(a.states, s)
		a.met[at] = int32(len(a.states))
	} else {
		old := &a.states[k-1]
		if s = old.merge(s); s == *old {
			return
		}
		*old = s
	}
	a.todo = append(a.todo, at)
}

// from follows one path until it ends, or reaches an instruction that was followed with the
// same state. It returns false if that takes too long.
func (a *analysis) from(at int) bool {
	s := a.states[a.met[at]-1]
	for {
		if a.decoded++; a.decoded > most {
			return false
		}
		if at == a.pc && !a.called {
			a.arrive(s)
		}
		i, ok := decode(a.code[at:])
		if !ok {
			return true
		}
		next := at + i.Len
		if next == a.pc && a.called && i.Op == x86asm.CALL {
			a.arrive(s)
		}
		rel, direct := i.Args[0].(x86asm.Rel)
		switch i.Op {
		case x86asm.RET, x86asm.LRET, x86asm.UD2, x86asm.HLT, x86asm.IRETQ:
			return true
		case x86asm.JMP:
			if direct {
				a.reach(next+int(rel), s)
			}
			return true
		case x86asm.CALL:
			s.soft = true
			if direct && rel == 0 {
				s.depth += 8 // it only pushes its address
			}
		default:
			if direct {
				a.reach(next+int(rel), s)
			}
			before, was := s.depth, s.zero
			s.execute(&i)
			s.drop(before)
			s.first = s.zero && (was && s.first || !was && (at == 0 || at == len(endbr64) && bytes.HasPrefix(a.code, endbr64)))
		}
		// Some functions pop their return address, and push it again.
		if s.depth < 0 && !s.moves && !s.zero || s.depth > maxDepth {
			return true
		}
		a.reach(next, s)
		n := len(a.todo)
		if n == 0 || a.todo[n-1] != next {
			return true
		}
		a.todo = a.todo[:n-1]
		at, s = next, a.states[a.met[next]-1]
	}
}

// arrive records that a path leads to the frame's address.
func (a *analysis) arrive(s state) {
	if a.found {
		s = a.there.merge(s)
	}
	a.there, a.found = s, true
}

var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// decode decodes an instruction.
func decode(code []byte) (x86asm.Inst, bool) {
	// x/arch decodes it as a NOP with a prefix (Intel SDM volume 2, "ENDBR64").
	if bytes.HasPrefix(code, endbr64) {
		return x86asm.Inst{Op: x86asm.NOP, Len: len(endbr64)}, true
	}
	i, err := x86asm.Decode(code, 64)
	return i, err == nil && i.Op != 0 && i.Len > 0
}

// Leaves is the way in which a function is left by a jump.
type Leaves uint8

const (
	None     Leaves = iota // no jump leaves the code
	Found                  // a jump leads to the wanted offset
	Direct                 // the last jump leads to another offset
	Indirect               // the last jump has an unknown target, and the frame is removed
)

// Jump looks for a jump to the wanted offset in the first instructions of a function. If
// there is none, it returns how the path without conditional jumps ends, and the target of
// its last jump as an offset.
func Jump(code []byte, wanted uint64) (to uint64, how Leaves) {
	ended, s := false, state{depth: 8}
	for at := 0; at < len(code); {
		i, ok := decode(code[at:])
		if !ok {
			break
		}
		at += i.Len
		rel, direct := i.Args[0].(x86asm.Rel)
		target := uint64(at) + uint64(int64(rel))
		switch {
		case i.Op == x86asm.CALL:
		case direct && target == wanted:
			return target, Found
		case ended:
		case i.Op == x86asm.RET, i.Op == x86asm.UD2, i.Op == x86asm.HLT:
			ended = true
		case i.Op == x86asm.JMP:
			ended = true
			if direct {
				to, how = target, Direct
			} else if s.depth == 8 && !s.moves {
				how = Indirect // in a function with a frame it would be a jump table
			}
		default:
			s.execute(&i)
		}
	}
	return to, how
}
