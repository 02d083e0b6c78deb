// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"fmt"
)

const (
	arm64LR  = 30 // x30, by its DWARF column too
	arm64ZR  = 31
	arm64Nop = 0xd503201f
)

// An arm64Assembler assembles a slot: the instructions in their order, a branch to the next original
// instruction, a branch for every other exit, and addresses that instructions load.
type arm64Assembler struct {
	Slot
	pc, slot uint64
	end      uint64 // address after the original
	exits    []arm64Reference
	literals []arm64Reference
	err      error
}

// An arm64Reference is an instruction that refers to the end of the slot.
type arm64Reference struct {
	at     int    // offset of the instruction
	target uint64 // address to which it branches, or that it loads
}

func makeARM64(code []byte, pc, slot uint64) (*Slot, error) {
	if pc%4 != 0 || slot%4 != 0 {
		return nil, fmt.Errorf("%w: an address is not a multiple of 4", ErrInvalid)
	}
	a := arm64Assembler{pc: pc, slot: slot}
	var err error
	if a.Instruction, err = decodeARM64(code, pc); err != nil {
		return nil, err
	}
	n := 1
	switch arm64FormOf(binary.LittleEndian.Uint32(code)) {
	case arm64LoadExclusive:
		if n, err = exclusiveSequence(code, pc); err != nil {
			return nil, err
		}
	case arm64Prefix:
		n = 2
		if len(code) < 8 || arm64FormOf(binary.LittleEndian.Uint32(code[4:])) != arm64Plain {
			return nil, fmt.Errorf("%w: movprfx without its instruction", ErrInvalid)
		}
	}
	a.Size = 4 * n
	a.end = pc + uint64(a.Size)
	if n == 1 {
		a.single(binary.LittleEndian.Uint32(code))
	} else {
		for k := range n {
			a.point(Point{PC: pc + uint64(4*k)})
			a.sequential(binary.LittleEndian.Uint32(code[4*k:]), pc+uint64(4*k))
		}
		a.leave()
	}
	a.finish()
	if a.err != nil {
		return nil, a.err
	}
	return &a.Slot, nil
}

func (a *arm64Assembler) emit(op uint32) { a.Code = binary.LittleEndian.AppendUint32(a.Code, op) }

func (a *arm64Assembler) fail(err error, format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: "+format, append([]any{err}, args...)...)
	}
}

// leave adds a branch to the address after the original.
func (a *arm64Assembler) leave() {
	a.point(Point{PC: a.end, Done: true})
	a.branch(a.end)
}

func (a *arm64Assembler) branch(target uint64) {
	a.emit(0x14000000 | a.label(target, len(a.Code), 26))
}

// label returns the distance from the instruction at an offset to an address, as a number of words with
// the given bits.
func (a *arm64Assembler) label(target uint64, at, bits int) uint32 {
	d := int64(target - (a.slot + uint64(at)))
	if limit := int64(1) << (bits + 1); d < -limit || d >= limit {
		a.fail(ErrFar, "%#x", target)
	}
	return uint32(d>>2) & (1<<bits - 1)
}

// literal adds a load of an address into a register. It is one instruction, so that a stop never finds
// half of the address, and changes only that register.
func (a *arm64Assembler) literal(register uint32, value uint64) {
	a.literals = append(a.literals, arm64Reference{len(a.Code), value})
	a.emit(0x58000000 | register)
}

// single adds one instruction and its exits.
func (a *arm64Assembler) single(op uint32) {
	a.point(Point{PC: a.pc})
	switch form := arm64FormOf(op); form {
	case arm64Branch:
		a.branch(a.Instruction.Target)
		return
	case arm64Register, arm64Return:
		a.emit(op)
		return
	case arm64Link:
		a.literal(arm64LR, a.end)
		a.point(Point{PC: a.Instruction.Target, Done: true})
		a.branch(a.Instruction.Target)
		return
	case arm64LinkRegister:
		// The target register, and the modifier of the authenticated forms.
		if op>>5&31 == arm64LR || op>>24&1 == 1 && op&31 == arm64LR {
			a.fail(ErrUnsupported, "a call through the register that gets the return address")
			return
		}
		a.literal(arm64LR, a.end)
		a.point(Point{PC: a.pc, Fix: Fix{Op: FixEntry, Register: arm64LR}})
		a.emit(op &^ (1 << 21)) // br for blr
		return
	case arm64Literal:
		a.load(op)
	default:
		a.sequential(op, a.pc)
	}
	a.leave()
}

// sequential adds the instruction at pc as one instruction.
func (a *arm64Assembler) sequential(op uint32, pc uint64) {
	form := arm64FormOf(op)
	switch form {
	case arm64Address:
		a.literal(op&31, arm64Target(op, form, pc))
	case arm64Literal:
		label := a.label(arm64Target(op, form, pc), len(a.Code), 19)
		a.emit(op&^(1<<24-1<<5) | label<<5)
	case arm64Branch, arm64Conditional, arm64Test:
		target := arm64Target(op, form, pc)
		if a.Size == 4 || target-a.pc >= uint64(a.Size) {
			a.exits = append(a.exits, arm64Reference{len(a.Code), target})
		} // else a label within the sequence, which keeps its distances
		a.emit(op)
	case arm64Fixed:
		a.fail(ErrUnsupported, "%08x depends on its own address", op)
	default:
		a.emit(op)
	}
}

// load adds a load of a literal of the program.
func (a *arm64Assembler) load(op uint32) {
	target := arm64Target(op, arm64Literal, a.pc)
	d := int64(target - a.slot)
	vector, size, register := op>>26&1 == 1, op>>30, op&31
	switch {
	case d >= -1<<20 && d < 1<<20 || vector || register == arm64ZR && size != 3:
		a.sequential(op, a.pc)
	case size == 3: // prfm, a hint
		a.emit(arm64Nop)
	default:
		// The destination register has the address before it has the value.
		a.literal(register, target)
		a.point(Point{PC: a.pc, Fix: Fix{Op: FixEntry, Register: int(register)}})
		load := [3]uint32{0xb9400000, 0xf9400000, 0xb9800000}[size] // ldr w, ldr x, ldrsw
		a.emit(load | register<<5 | register)
	}
}

// finish adds the targets of exits and literals.
func (a *arm64Assembler) finish() {
	for _, x := range a.exits {
		op := binary.LittleEndian.Uint32(a.Code[x.at:])
		d := uint32(len(a.Code)-x.at) / 4
		switch arm64FormOf(op) {
		case arm64Branch:
			op = 0x14000000 | d
		case arm64Test:
			op = op&^(1<<19-1<<5) | d<<5
		default:
			op = op&^(1<<24-1<<5) | d<<5
		}
		binary.LittleEndian.PutUint32(a.Code[x.at:], op)
		a.point(Point{PC: x.target, Done: true})
		a.branch(x.target)
	}
	for _, l := range a.literals {
		if (a.slot+uint64(len(a.Code)))%8 != 0 {
			a.emit(0) // udf
		}
		op := binary.LittleEndian.Uint32(a.Code[l.at:])
		binary.LittleEndian.PutUint32(a.Code[l.at:], op|uint32(len(a.Code)-l.at)/4<<5)
		a.Code = binary.LittleEndian.AppendUint64(a.Code, l.target)
	}
}
