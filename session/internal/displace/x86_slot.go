// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/clewdev/clew/internal/x86"
)

// DWARF columns (psABI amd64 table 3.36).
const (
	x86RCX = 2
	x86RSP = 7
)

// An x86Assembler assembles a slot.
type x86Assembler struct {
	x86Instruction
	Slot
	pc, slot uint64
	literals []x86Literal
}

// An x86Literal is an address that an operand reads.
type x86Literal struct {
	operand int // offset of the displacement that ends the instruction
	value   uint64
}

func makeX86(code []byte, pc, slot uint64) (*Slot, error) {
	parts, err := decodeX86Parts(code)
	if err != nil {
		return nil, err
	}
	a := x86Assembler{x86Instruction: parts, pc: pc, slot: slot}
	if a.Instruction, err = parts.instruction(pc); err != nil {
		return nil, err
	}
	a.Size = a.Instruction.Size
	if err := a.assemble(); err != nil {
		return nil, err
	}
	a.finish()
	return &a.Slot, nil
}

func (a *x86Assembler) assemble() error {
	direct, next := a.Instruction.Direct, a.Instruction.Next
	a.point(Point{PC: a.pc})
	switch a.Instruction.Kind {
	case Branch:
		a.branch()
		return nil
	case Jump:
		if direct {
			a.jump(a.Instruction.Target)
			return nil
		}
		return a.copy(a.x86Instruction)
	case Return, InterruptReturn:
		return a.copy(a.x86Instruction)
	case Call:
		if direct {
			a.callDirect()
			return nil
		}
		return a.callIndirect()
	case Syscall:
		if a.Opcode != 0x05 {
			return fmt.Errorf("%w: sysenter", ErrUnsupported)
		}
		// syscall leaves its return address in rcx.
		a.emit(a.x86Instruction.Code...)
		a.point(Point{PC: next, Done: true, Fix: Fix{FixSet, x86RCX, next}})
		a.emit(0x48, 0xb9) // mov rcx, imm64
		a.Code = binary.LittleEndian.AppendUint64(a.Code, next)
	default:
		if err := a.copy(a.x86Instruction); err != nil {
			return err
		}
	}
	a.point(Point{PC: next, Done: true})
	a.jump(next)
	return nil
}

func (a *x86Assembler) emit(b ...byte) { a.Code = append(a.Code, b...) }

// literal adds a displacement of four bytes, for an operand that reads an address from the end of the
// slot.
func (a *x86Assembler) literal(value uint64) {
	a.literals = append(a.literals, x86Literal{len(a.Code), value})
	a.emit(0, 0, 0, 0)
}

// finish adds the literals after the code. They are aligned, because the program may have enabled
// alignment checks (AC in rflags).
func (a *x86Assembler) finish() {
	for _, l := range a.literals {
		for (a.slot+uint64(len(a.Code)))%8 != 0 {
			a.emit(0xcc)
		}
		binary.LittleEndian.PutUint32(a.Code[l.operand:], uint32(len(a.Code)-l.operand-4))
		a.Code = binary.LittleEndian.AppendUint64(a.Code, l.value)
	}
}

// jump adds a jump to an address that changes neither registers nor memory.
func (a *x86Assembler) jump(target uint64) {
	d := int64(target - (a.slot + uint64(len(a.Code)) + 5))
	if d == int64(int32(d)) {
		a.emit(0xe9)
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(d))
		return
	}
	a.emit(0xff, 0x25) // jmp [rip+disp32]
	a.literal(target)
}

// copy adds an instruction that refers to the same address as the original.
func (a *x86Assembler) copy(i x86Instruction) error {
	at := len(a.Code)
	a.emit(i.Code...)
	if !i.RIPRelative {
		return nil
	}
	field := a.Code[at+i.Displacement:]
	target := a.Instruction.Next + uint64(int64(int32(binary.LittleEndian.Uint32(field))))
	d := int64(target - (a.slot + uint64(len(a.Code))))
	// With prefix 67 the address has 32 bits, and wraps around.
	if d != int64(int32(d)) && !i.Address32 {
		return fmt.Errorf("%w: the operand at %#x", ErrFar, target)
	}
	binary.LittleEndian.PutUint32(field, uint32(d))
	return nil
}

// branch adds the branch with a target in the slot, which jumps to the original target. Prefixes remain:
// AMD's processors execute repnz loope as loopne.
func (a *x86Assembler) branch() {
	a.emit(a.x86Instruction.Code...)
	end := len(a.Code)
	a.point(Point{PC: a.Instruction.Next, Done: true})
	a.jump(a.Instruction.Next)
	clear(a.Code[a.Relative:end])
	a.Code[a.Relative] = byte(len(a.Code) - end)
	a.point(Point{PC: a.Instruction.Target, Done: true})
	a.jump(a.Instruction.Target)
}

func (a *x86Assembler) pushReturnAddress() {
	a.emit(0xff, 0x35) // push [rip+disp32]
	a.literal(a.Instruction.Next)
}

func (a *x86Assembler) callDirect() {
	a.pushReturnAddress()
	a.point(Point{PC: a.Instruction.Target, Done: true})
	a.jump(a.Instruction.Target)
}

// callIndirect pushes the return address and jumps with the call's operand. The operand is read after
// the push, which has changed rsp.
func (a *x86Assembler) callIndirect() error {
	modRM := a.x86Instruction.Code[a.ModRM]
	if modRM>>3&7 == 3 {
		return fmt.Errorf("%w: a far call", ErrUnsupported)
	}
	if a.Operand16 {
		return fmt.Errorf("%w: a call with an operand size prefix", ErrUnsupported)
	}
	jump, err := a.afterPush()
	if err != nil {
		return err
	}
	jump.Code[jump.ModRM] += 2 << 3 // group 5: call is /2, jmp is /4
	a.pushReturnAddress()
	// In the original a fault of the operand comes before the push.
	a.point(Point{PC: a.pc, Fix: Fix{FixAdd, x86RSP, 8}})
	return a.copy(jump)
}

// afterPush returns the instruction with the same operand, if rsp is 8 less.
func (a *x86Assembler) afterPush() (x86Instruction, error) {
	i := a.x86Instruction
	modRM := i.Code[i.ModRM]
	mod, rm := modRM>>6, modRM&7
	if mod == 3 && rm == 4 && !i.RexB {
		return i, fmt.Errorf("%w: call rsp", ErrUnsupported)
	}
	if mod == 3 || rm != 4 || i.RexB || i.Code[i.ModRM+1]&7 != 4 {
		i.Code = bytes.Clone(i.Code)
		return i, nil
	}
	d, size := int64(0), 0
	switch mod {
	case 1:
		d, size = int64(int8(i.Code[i.Displacement])), 1
	case 2:
		d, size = int64(int32(binary.LittleEndian.Uint32(i.Code[i.Displacement:]))), 4
	}
	noIndex := i.Code[i.ModRM+1]>>3&7 == 4 && !i.RexX
	if noIndex && d > -16 && d < 0 {
		return i, fmt.Errorf("%w: a call that reads the word that it pushes", ErrUnsupported)
	}
	at := i.ModRM + 2
	out := bytes.Clone(i.Code[:at])
	d += 8
	switch {
	case d == int64(int8(d)):
		out[i.ModRM] = modRM&0x3f | 1<<6
		out = append(out, byte(d))
	case d <= math.MaxInt32:
		out[i.ModRM] = modRM&0x3f | 2<<6
		out = binary.LittleEndian.AppendUint32(out, uint32(d))
	default:
		return i, fmt.Errorf("%w: the displacement %#x at the end of its range", ErrUnsupported, d-8)
	}
	i.Code, i.Displacement = append(out, i.Code[at+size:]...), at
	if len(i.Code) > x86.MaxSize {
		return i, fmt.Errorf("%w: a call of the maximum size", ErrUnsupported)
	}
	return i, nil
}
