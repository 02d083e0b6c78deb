// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/dwarf"
)

// AfterPrologue returns the address of a breakpoint for the function that starts at addr:
// after the instructions that set up its frame, so that arguments can be read. It follows
// gdb 13:
//
//   - It skips nothing if variables have location lists of gcc, which are valid in
//     prologues too, and nothing in assembly language.
//   - A row that the compiler marks as the end of the prologue is the end: clang does so.
//   - On amd64 the prologue is the instructions that set up a frame pointer, up to the end
//     of their row in the line table. Functions without a frame pointer have no prologue.
//   - On other machines the prologue ends at the second row of the function.
//
// For the entry of an inlined call the result is addr, or the end of the prologue if the
// call is at the start of its function. Without lines it is the address after the frame
// pointer's instructions (amd64).
//
// The instructions are read from code at addresses of the file. Nil stands for the file
// itself; a symbol file of generated code usually has no instructions.
func (f *File) AfterPrologue(code cfi.Memory, addr uint64) (after uint64, err error) {
	prologues := f.prologues(code)
	read := false
	err = f.withLines(func(d *dwarf.Data) error {
		read = true
		after, err = d.AfterPrologue(addr, prologues)
		return err
	})
	if !read {
		return prologues.Frame(addr), err
	}
	return after, err
}

// StepTarget returns the address at which a step by line ends that enters the function at
// entry. It is that of [File.AfterPrologue] without regard to location lists and marked
// rows, as in gdb 13.
func (f *File) StepTarget(code cfi.Memory, entry uint64) (target uint64, err error) {
	target = entry
	prologues := f.prologues(code)
	err = f.withLines(func(d *dwarf.Data) error {
		target, err = d.StepTarget(entry, prologues)
		return err
	})
	return target, err
}

func (f *File) prologues(code cfi.Memory) *dwarf.Prologues {
	if code == nil {
		code = f
	}
	p := &dwarf.Prologues{ByLines: true, Frame: func(start uint64) uint64 { return start }}
	if f.machine == elf.EM_X86_64 {
		p.ByLines = false
		p.Frame = func(start uint64) uint64 { return amd64Frame(code, start) }
	}
	p.Symbol = func(addr uint64) (low, high uint64, ok bool) {
		symbols, err := f.FindSymbols([]uint64{addr})
		if s := symbols[0]; err == nil && s.Size > 0 && addr-s.Address < s.Size {
			return s.Address, s.Address + s.Size, true
		}
		return 0, 0, false
	}
	return p
}

// amd64Frame returns the address after the instructions at start that set up a frame
// pointer, or start if they do not.
func amd64Frame(code cfi.Memory, start uint64) uint64 {
	pc := start + stackAlignment(code, start)
	var b [8]byte
	if read(code, b[:4], pc) && string(b[:4]) == "\xf3\x0f\x1e\xfa" { // endbr64
		pc += 4
	}
	if !read(code, b[:4], pc) || b[0] != 0x55 { // push %rbp
		return start
	}
	switch string(b[1:4]) {
	case "\x48\x89\xe5", "\x48\x8b\xec": // mov %rsp,%rbp
		return pc + 4
	}
	return start
}

// stackAlignment returns the size in bytes of the instructions by which gcc aligns
// the stack of a function that needs its arguments' address (-mstackrealign, and
// variables aligned to more than 16 bytes), 0 if they are not at start:
//
//	lea 8(%rsp),%reg; and $-n,%rsp; push -8(%reg)
//	push %reg; lea 16(%rsp),%reg; and $-n,%rsp; push -8(%reg)
func stackAlignment(code cfi.Memory, start uint64) uint64 {
	var buffer [18]byte
	if !read(code, buffer[:], start) {
		return 0
	}
	b := buffer[:]
	skip := func(n int) { b = b[n:] }
	saved, distance := -1, byte(8)
	switch {
	case b[0]&0xf8 == 0x50:
		saved, distance = int(b[0]&7), 16
		skip(1)
	case b[0] == 0x41 && b[1]&0xf8 == 0x50:
		saved, distance = int(b[1]&7)+8, 16
		skip(2)
	}
	if b[0] != 0x48 && b[0] != 0x4c || b[1] != 0x8d || b[2]&0xc7 != 0x44 || b[3] != 0x24 || b[4] != distance {
		return 0
	}
	register := int(b[2] >> 3 & 7)
	if b[0] == 0x4c {
		register += 8
	}
	if saved >= 0 && saved != register {
		return 0
	}
	skip(5)
	switch string(b[:3]) {
	case "\x48\x83\xe4":
		skip(4)
	case "\x48\x81\xe4":
		skip(7)
	default:
		return 0
	}
	if register >= 8 {
		if b[0] != 0x41 {
			return 0
		}
		skip(1)
	}
	if len(b) < 3 || b[0] != 0xff || b[1] != 0x70|byte(register&7) || b[2] != 0xf8 {
		return 0
	}
	skip(3)
	return uint64(len(buffer) - len(b))
}

func read(code cfi.Memory, p []byte, addr uint64) bool { return code.ReadMemory(p, addr) == nil }
