// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// The functions that Options.Entry adds.
const (
	entryName = "forth_enter" // void forth_enter(state *, code *): runs a word
	pauseName = "forth_pause" // what pause calls: does nothing
)

// entryRoom is how much stack words may use below the entry, in bytes.
const entryRoom = 0x3f000

// stub is a function that is not compiled from source.
type stub struct {
	name  string
	code  []byte
	rules func(b *cfi.Builder)
}

// emitStubs emits the functions by which C code, or a debugger, runs words.
func (e *emitter) emitStubs() ([]jit.Function, error) {
	var functions []jit.Function
	for _, s := range e.machine.stubs() {
		for len(e.text)%16 != 0 {
			e.text = append(e.text, 0)
		}
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
		if e.spaceAfter != nil {
			space, err := e.spaceAfter(table, uint64(len(s.code)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			e.text = append(e.text, make([]byte, space)...)
		}
	}
	return functions, nil
}

// stubs: a word leaves rbx, rbp, r12 and r13 changed, which its caller in C wants
// back (psABI amd64, Figure 3.4).
func (amd64) stubs() []stub {
	room := binary.LittleEndian.AppendUint32(nil, -entryRoom&0xffffffff)
	enter := []byte{
		0x53,       // push rbx
		0x55,       // push rbp
		0x41, 0x54, // push r12
		0x41, 0x55, // push r13
		0x49, 0x89, 0xfc, // mov r12, rdi
		0x48, 0x8d, 0x94, 0x24, room[0], room[1], room[2], room[3], // lea rdx, [rsp-room]
		0x49, 0x89, 0x54, 0x24, offsetStackLimit, // mov [r12+stackLimit], rdx
		0x48, 0x8d, 0x54, 0x24, 0xf8, // lea rdx, [rsp-8]: where the return address comes to be
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

// stubs: a word leaves x19 to x21, x29 and x30 changed, which its caller in C wants
// back (AAPCS64 §6.1.1).
func (arm64) stubs() []stub {
	code := []uint32{
		0xa9bc7bfd,      // stp x29, x30, [sp, #-64]!
		0xa90153f3,      // stp x19, x20, [sp, #16]
		0xf90013f5,      // str x21, [sp, #32]
		a64Move(x20, 0), // mov x20, x0
		0xd1400000 | entryRoom>>12<<10 | 31<<5 | x9, // sub x9, sp, #room
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
			// How far it is to back, in words.
			c = 0x10000000 | uint32(14-i)<<5 | x11
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

// Code describes the program where it was loaded: the image of a debug session.
func (s *Session) Code() *jit.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.program.Code(s.code.Address(), s.code.Bytes()[:len(s.program.Text)])
}

// Enter prepares a call of a word by somebody else than Call, in a program that
// was compiled with Options.Entry: whoever calls function with the two words, by
// the machine's C calling convention and with 256 KiB of stack, in this process or
// in one that shares its memory, runs the word. Leave is to follow. Until then
// the session must not be closed.
func (s *Session) Enter(word string, arguments ...int64) (function uint64, words [2]uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, pause := s.program.word(entryName), s.program.word(pauseName)
	if entry == nil || pause == nil {
		return 0, words, fmt.Errorf("%s was compiled without an entry", s.program.Name)
	}
	f, err := s.prepare(word, arguments)
	if err != nil {
		return 0, words, err
	}
	s.state.pause = s.code.Address() + pause.Offset
	return s.code.Address() + entry.Offset, [2]uint64{address64(s.state), s.code.Address() + f.Offset}, nil
}

// Leave is what Call does after a word: it writes the output and returns the
// numbers that the word left, or the *Fault.
func (s *Session) Leave() ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		return nil, errClosed
	}
	return s.finish()
}

// Flush writes what a word has printed so far, while it is stopped between Enter
// and Leave.
func (s *Session) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		return nil
	}
	return s.flush()
}

// DataStack returns the data stack of a word that is stopped between Enter and
// Leave, the top last, of what its registers hold: rbx and rax, or x19 and x0. It
// returns false for registers that hold something else.
func (s *Session) DataStack(below, top uint64) ([]int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil || below > s.state.highest || below < s.state.lowest || below%cell != 0 {
		return nil, false
	}
	return s.numbers(below, top), true
}
