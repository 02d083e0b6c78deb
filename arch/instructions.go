// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"encoding/binary"
)

// Call is a call instruction.
type Call struct {
	Target uint64 // address of the called function, 0 if the call is not Direct
	Direct bool   // the instruction contains its target
}

// MaxCallSize is the maximum number of bytes before a return address that CallBefore
// needs: the call and, on some machines, the instruction before it or its delay slot.
const MaxCallSize = 8

// KnowsCalls reports whether CallBefore knows the machine's call instructions.
func (m *Machine) KnowsCalls() bool { return m.code.call != nil }

// CallBefore returns the call instruction before a return address, and whether there is one.
// Code contains up to MaxCallSize bytes before the return address; it is shorter if the code
// starts later. On arm, an odd return address is in Thumb code. CallBefore allocates nothing.
//
// On machines with instructions of several lengths (x86, riscv, s390, Thumb) the end of another
// instruction can look like a call. This is true for about half a percent of the instructions.
func (m *Machine) CallBefore(code []byte, returns uint64) (c Call, ok bool) {
	if m.code.call == nil {
		return Call{}, false
	}
	c, ok = m.code.call(m, code, returns)
	c.Target = m.Truncate(c.Target)
	return c, ok
}

// tail returns the last n bytes of code, or nil if there are fewer.
func tail(code []byte, n int) []byte {
	if len(code) < n {
		return nil
	}
	return code[len(code)-n:]
}

// word returns the instruction of four bytes that starts n bytes before the end of code, or 0,
// which is not a call on any machine, if it is incomplete.
func word(order binary.ByteOrder, code []byte, n int) uint32 {
	if b := tail(code, n); len(b) >= 4 {
		return order.Uint32(b)
	}
	return 0
}

// extend returns the signed number in a range of bits of a word.
func extend(op uint32, low, bits int) uint64 {
	return uint64(int64(op) << (64 - low - bits) >> (64 - bits))
}

// instructions describes a machine's instructions that call, return, jump and make frames.
// Functions are nil if they are unknown. Code has at most a few instructions, and may be
// truncated.
type instructions struct {
	unit      int  // alignment in bytes, if setsFramePointer is known
	dataOrder bool // instructions have the byte order of data

	call             func(m *Machine, code []byte, returns uint64) (Call, bool)
	setsFramePointer func(code []byte) (offset int64, ok bool)
	changesSP        func(op uint32) bool
	returns          func(code []byte) bool
	atEntry          func(m *Machine, code []byte, at uint64) (depth uint64, ok bool)
	jump             func(code []byte, pc uint64) (target uint64, ok bool)
	restoresWindow   func(op uint32) bool

	stub         func(code []byte, pc uint64) (Stub, bool)
	stubStep     uint64 // stubs start at multiples of it
	stubsAligned bool   // and at multiples of their size
}

// codeOrder returns the byte order of the machine's instructions.
func (m *Machine) codeOrder() binary.ByteOrder {
	if m.code.dataOrder {
		return m.Order
	}
	return binary.LittleEndian
}

// swapsCode reports whether instructions have another byte order in memory than in descriptions.
func (m *Machine) swapsCode() bool { return m.code.dataOrder && m.Order == binary.BigEndian }

// firstWord returns the instruction of four little-endian bytes at the start of code, or 0,
// which no function of this package accepts, if it is truncated.
func firstWord(code []byte) uint32 { return word(binary.LittleEndian, code, len(code)) }

// InstructionUnit returns the alignment of the machine's instructions in bytes, or 0 if
// SetsFramePointer does not know the instructions.
func (m *Machine) InstructionUnit() int { return m.code.unit }

// SetsFramePointer reports whether the instruction at the start of code sets the frame
// pointer to the stack pointer plus an offset in bytes, as prologues do. The result is
// meaningless if code does not start with an instruction.
func (m *Machine) SetsFramePointer(code []byte) (offset int64, ok bool) {
	if m.code.setsFramePointer == nil {
		return 0, false
	}
	return m.code.setsFramePointer(code)
}

// KeepsStackPointer reports whether none of a machine's instructions in code changes
// the stack pointer. It is false for a machine without a description of its instructions.
func (m *Machine) KeepsStackPointer(code []byte) bool {
	if m.code.changesSP == nil {
		return false
	}
	for order := m.codeOrder(); len(code) >= 4; code = code[4:] {
		if m.code.changesSP(order.Uint32(code)) {
			return false
		}
	}
	return true
}

// KnowsReturns reports whether Returns knows the machine's instructions, which all have
// InstructionUnit bytes.
func (m *Machine) KnowsReturns() bool { return m.code.returns != nil && m.code.unit == 4 }

// Returns reports whether the instruction at the start of code returns from a
// function by the return address on the stack or in the link register.
func (m *Machine) Returns(code []byte) bool { return m.code.returns != nil && m.code.returns(code) }

// PushesReturns reports whether call instructions push the return address.
func (m *Machine) PushesReturns() bool {
	return m.ReturnAddress >= 0 && m.ReturnAddress == m.ProgramCounter
}

// GrowsUp reports whether the stack grows upwards, as on hppa.
func (m *Machine) GrowsUp() bool { return m.DataAlign > 0 }

// AtEntry returns where the return address is while a function executes its first instructions:
// at the stack pointer plus depth bytes. It supports machines whose calls push the return
// address. Code contains the function's first bytes, and at is the offset of the next
// instruction. Ok is false if one of the instructions before that offset is not supported. On
// other machines ok is true only for offset 0.
func (m *Machine) AtEntry(code []byte, at uint64) (depth uint64, ok bool) {
	if m.code.atEntry == nil {
		return 0, at == 0
	}
	return m.code.atEntry(m, code, at)
}

// RestoresWindow reports whether the instruction at the start of code restores the
// caller's register window. The instruction in its delay slot then runs in the caller's
// window.
func (m *Machine) RestoresWindow(code []byte) bool {
	return m.code.restoresWindow != nil && len(code) >= 4 && m.code.restoresWindow(m.Order.Uint32(code))
}

// JumpTarget returns the target address of the jump at the start of code, and whether
// the instruction is a direct, unconditional jump. Pc is the address of code.
// JumpTarget skips a landing pad for indirect branches.
func (m *Machine) JumpTarget(code []byte, pc uint64) (target uint64, ok bool) {
	if m.code.jump == nil {
		return 0, false
	}
	target, ok = m.code.jump(code, pc)
	return m.Truncate(target), ok
}

// Stub is an entry of a procedure linkage table.
type Stub struct {
	Slot uint64 // address of the word that it jumps through
	Size uint64 // bytes of the entry
	// FromGOT says that Slot is relative to the global offset table.
	FromGOT bool
}

// maxStub is the size of the longest stub, in bytes.
const maxStub = 24

// Stub returns the stub of a procedure linkage table at the start of code, and whether
// there is one. Pc is the address of code.
func (m *Machine) Stub(code []byte, pc uint64) (s Stub, ok bool) {
	if m.code.stub == nil {
		return Stub{}, false
	}
	s, ok = m.code.stub(code, pc)
	s.Slot = m.Truncate(s.Slot)
	return s, ok
}

// StubAround returns the stub that covers an offset in code, and start, the stub's own
// offset. Code is a procedure linkage table, and addr its address.
func (m *Machine) StubAround(code []byte, addr, offset uint64) (start uint64, s Stub, ok bool) {
	step := m.code.stubStep
	if step == 0 || offset >= uint64(len(code)) {
		return 0, Stub{}, false
	}
	// The earliest start comes first, because the end of a stub can look like a shorter stub.
	for start = offset - min(offset, maxStub-step) + step - 1; ; start += step {
		start -= start % step
		if start > offset {
			return 0, Stub{}, false
		}
		s, ok = m.Stub(code[start:], addr+start)
		if ok && offset < start+s.Size && (!m.code.stubsAligned || start%s.Size == 0) {
			return start, s, true
		}
	}
}
