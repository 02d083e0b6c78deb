// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// The functions that Options.Entry adds.
const (
	entryName = "forth_enter" // void forth_enter(state *, code *): runs a word
	pauseName = "forth_pause" // does nothing; pause calls it
)

// entryStack is the stack size for words below the entry, in bytes.
const entryStack = 0x3f000

// stub is a function that is not compiled from source.
type stub struct {
	name  string
	code  []byte
	rules func(b *cfi.Builder)
}

// emitStubs emits the functions with which C code or a debugger runs words.
func (e *emitter) emitStubs() ([]jit.Function, error) {
	var functions []jit.Function
	for _, s := range e.machine.stubs() {
		e.align()
		b := cfi.NewBuilder(e.cie)
		s.rules(b)
		table, err := b.Program()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		functions = append(functions, jit.Function{
			Name: s.name, Offset: uint64(len(e.text)), Size: uint64(len(s.code)), Unwind: table,
		})
		e.text = append(e.text, s.code...)
		if err := e.addSpace(table, uint64(len(s.code))); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return functions, nil
}

// stubs returns an entry that preserves rbx, rbp, r12 and r13 for the caller in C (psABI amd64, Figure
// 3.4). Words change them.
func (amd64) stubs() []stub {
	d := binary.LittleEndian.AppendUint32(nil, -entryStack&0xffffffff)
	enter := []byte{
		0x53,       // push rbx
		0x55,       // push rbp
		0x41, 0x54, // push r12
		0x41, 0x55, // push r13
		0x49, 0x89, 0xfc, // mov r12, rdi
		0x48, 0x8d, 0x94, 0x24, d[0], d[1], d[2], d[3], // lea rdx, [rsp-entryStack]
		0x49, 0x89, 0x54, 0x24, offsetStackLimit, // mov [r12+stackLimit], rdx
		0x48, 0x8d, 0x54, 0x24, 0xf8, // lea rdx, [rsp-8]: address of the return address
		0x49, 0x89, 0x54, 0x24, offsetSP, // mov [r12+sp], rdx
		0x49, 0x8b, 0x5c, 0x24, offsetDSP, // mov rbx, [r12+dsp]
		0x49, 0x8b, 0x44, 0x24, offsetTOS, // mov rax, [r12+tos]
		0x4d, 0x8b, 0x6c, 0x24, offsetData, // mov r13, [r12+data]
		0xff, 0xd6, // call rsi
		0x49, 0x89, 0x5c, 0x24, offsetDSP, // mov [r12+dsp], rbx
		0x49, 0x89, 0x44, 0x24, offsetTOS, // mov [r12+tos], rax
		0x41, 0x5d, // pop r13
		0x41, 0x5c, // pop r12
		0x5d, // pop rbp
		0x5b, // pop rbx
		0xc3, // ret
	}
	const rbx, rbp, r12, r13 = 3, amd64RBP, 12, 13 // DWARF columns (psABI amd64, Table 3.36)
	end := uint64(len(enter))
	return []stub{
		{entryName, enter, func(b *cfi.Builder) {
			b.At(1).DefCFAOffset(2*cell).Offset(rbx, -2*cell)
			b.At(2).DefCFAOffset(3*cell).Offset(rbp, -3*cell)
			b.At(4).DefCFAOffset(4*cell).Offset(r12, -4*cell)
			b.At(6).DefCFAOffset(5*cell).Offset(r13, -5*cell)
			b.At(end - 5).DefCFAOffset(4 * cell).Restore(r13)
			b.At(end - 3).DefCFAOffset(3 * cell).Restore(r12)
			b.At(end - 2).DefCFAOffset(2 * cell).Restore(rbp)
			b.At(end - 1).DefCFAOffset(cell).Restore(rbx)
		}},
		{pauseName, []byte{0xc3}, func(*cfi.Builder) {}}, // ret
	}
}

// stubs returns an entry that preserves x19 to x21, x29 and x30 for the caller in C (AAPCS64 §6.1.1).
// Words change them.
func (arm64) stubs() []stub {
	code := []uint32{
		0xa9bc7bfd,      // stp x29, x30, [sp, #-64]!
		0xa90153f3,      // stp x19, x20, [sp, #16]
		0xf90013f5,      // str x21, [sp, #32]
		a64Move(x20, 0), // mov x20, x0
		0xd1400000 | entryStack>>12<<10 | 31<<5 | x9, // sub x9, sp, #entryStack
		a64Store(x9, x20, uint32(offsetStackLimit)),
		0x910003ea, // mov x10, sp
		a64Store(x10, x20, uint32(offsetSP)),
		0x100000ab, // adr x11, back
		a64Store(x11, x20, uint32(offsetRA)),
		a64Load(x19, x20, uint32(offsetDSP)),
		a64Load(x0, x20, uint32(offsetTOS)),
		a64Load(x21, x20, uint32(offsetData)),
		0xd63f0020,                            // blr x1
		a64Store(x19, x20, uint32(offsetDSP)), // back
		a64Store(x0, x20, uint32(offsetTOS)),
		0xf94013f5, // ldr x21, [sp, #32]
		0xa94153f3, // ldp x19, x20, [sp, #16]
		0xa8c47bfd, // ldp x29, x30, [sp], #64
		0xd65f03c0, // ret
	}
	var enter []byte
	for i, c := range code {
		if c == 0x100000ab {
			c = 0x10000000 | uint32(14-i)<<5 | x11 // the distance to back in words
		}
		enter = binary.LittleEndian.AppendUint32(enter, c)
	}
	return []stub{
		{entryName, enter, func(b *cfi.Builder) {
			b.At(4).DefCFAOffset(64).Offset(x29, -64).Offset(x30, -56)
			b.At(8).Offset(x19, -48).Offset(x20, -40)
			b.At(12).Offset(x21, -32)
			b.At(4 * 17).Restore(x21)
			b.At(4 * 18).Restore(x19).Restore(x20)
			b.At(4 * 19).DefCFAOffset(0).Restore(x29).Restore(x30)
		}},
		{pauseName, []byte{0xc0, 0x03, 0x5f, 0xd6}, func(*cfi.Builder) {}}, // ret
	}
}

// Code describes the loaded program, for an image of a debug session.
func (s *Session) Code() *jit.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.program.Code(s.code.Address(), s.code.Bytes()[:len(s.program.Text)])
}

// Enter prepares a call of a word other than by Call, in a program that was compiled with Options.Entry.
// To run the word, call function with the two words by the machine's C calling convention, with 256 KiB
// of stack, in this process or one that shares its memory. Then call Leave. The session must not be
// closed before Leave.
func (s *Session) Enter(word string, arguments ...int64) (function uint64, words [2]uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, pause := s.program.word(entryName), s.program.word(pauseName)
	if entry < 0 || pause < 0 {
		return 0, words, fmt.Errorf("%s was compiled without an entry", s.program.Name)
	}
	f, err := s.prepare(word, arguments)
	if err != nil {
		return 0, words, err
	}
	base := s.code.Address()
	s.state.pause = base + s.program.Functions[pause].Offset
	words = [2]uint64{uint64(uintptr(unsafe.Pointer(s.state))), base + f.Offset}
	return base + s.program.Functions[entry].Offset, words, nil
}

// Leave does what Call does after a word: it writes the output and returns the numbers that the word
// left, or the *Fault.
func (s *Session) Leave() ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		return nil, errClosed
	}
	return s.finish()
}

// Flush writes the output so far of a word that is stopped between Enter and Leave.
func (s *Session) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		return nil
	}
	return s.flush()
}

// DataStack returns the data stack, the top last, of a word that is stopped between Enter and Leave. The
// arguments are its registers rbx and rax, or x19 and x0. It returns false if they do not describe a
// data stack.
func (s *Session) DataStack(below, top uint64) ([]int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil || below > s.state.highest || below < s.state.lowest || below%cell != 0 {
		return nil, false
	}
	return s.numbers(below, top), true
}
