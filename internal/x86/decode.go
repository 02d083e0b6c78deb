// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package x86

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxSize is the maximum size of an instruction, in bytes. Longer ones fault.
const MaxSize = 15

// ErrInvalid means that bytes are not an instruction, or end within one.
var ErrInvalid = errors.New("no instruction")

// Instruction describes where the parts of an instruction are. Offsets are in Code. Offset 0
// means that the instruction does not have the part.
type Instruction struct {
	Code []byte // exactly the instruction

	Wide      bool // REX.W, VEX.W
	RexR      bool // the register in ModRM.reg is one of r8 to r15
	RexX      bool // the index register of the memory operand is one of r8 to r15
	RexB      bool // its base, ModRM.rm or the register in the opcode is one of r8 to r15
	Rex       bool // there is a REX prefix: byte registers 4 to 7 are spl to dil
	Operand16 bool // 66 that REX.W does not override
	Prefix66  bool
	Address32 bool // 67
	F2, F3    bool // the last of F2 and F3 counts
	Lock      bool
	Segment   byte // the prefix 64 (fs) or 65 (gs), or 0
	Vector    bool // VEX, EVEX or XOP

	Map    byte // opcode map: MapOneByte and so on
	Opcode byte

	ModRM        int // offset
	Displacement int // offset of a memory operand's displacement
	Immediate    int // offset of what follows the operands: an immediate, or an absolute address
	Relative     int // offset of a branch's displacement, which ends the instruction
	RIPRelative  bool
}

// Decode sets i to the instruction that code starts with. With an error, which wraps
// ErrInvalid, i is undefined.
func (i *Instruction) Decode(code []byte) error {
	*i = Instruction{}
	if len(code) > MaxSize {
		code = code[:MaxSize]
	}
	at, ok := i.readOpcode(code)
	if ok {
		at, ok = i.readOperands(code, at)
	}
	switch {
	case !ok:
		return fmt.Errorf("%w: opcode %02x of map %d is invalid in 64-bit mode", ErrInvalid, i.Opcode, i.Map)
	case at <= len(code):
		i.Code = code[:at]
		return nil
	case len(code) == MaxSize:
		return fmt.Errorf("%w: longer than 15 bytes", ErrInvalid)
	}
	return fmt.Errorf("%w: it continues after the %d bytes there are", ErrInvalid, len(code))
}

// end is an offset after every instruction: the code ended before the next byte.
const end = MaxSize + 1

// readOpcode reads the prefixes, the escapes and the opcode. It returns the offset of what
// follows, and false if there is no such instruction.
func (i *Instruction) readOpcode(code []byte) (int, bool) {
	rex := byte(0)
	for at, b := range code {
		switch {
		case b&0xf0 == 0x40:
			rex = b
			continue
		case oneByte[b] != 'p' || b == 0x0f || b == 0x62 || b == 0xc4 || b == 0xc5:
			if rex != 0 {
				i.Rex = true
				i.Wide, i.RexR, i.RexX, i.RexB = rex&8 != 0, rex&4 != 0, rex&2 != 0, rex&1 != 0
			}
			i.Opcode = b
			at, ok := i.readEscape(code, at+1)
			i.Operand16 = i.Prefix66 && !i.Wide
			return at, ok
		case b == 0xf0:
			i.Lock = true
		case b == 0x66:
			i.Prefix66 = true
		case b == 0x67:
			i.Address32 = true
		case b == 0x64, b == 0x65:
			i.Segment = b
		case b == 0xf2:
			i.F2, i.F3 = true, false
		case b == 0xf3:
			i.F2, i.F3 = false, true
		}
		rex = 0 // only a REX prefix directly before the opcode counts
	}
	return end, true
}

// readEscape reads the bytes between the prefixes and the opcode, and the opcode.
func (i *Instruction) readEscape(code []byte, at int) (int, bool) {
	switch i.Opcode {
	case 0x0f:
		if at >= len(code) {
			return end, true
		}
		i.Map, i.Opcode = Map0F, code[at]
		at++
		if i.Opcode&^2 != 0x38 {
			return at, true
		}
		i.Map = Map0F38
		if i.Opcode == 0x3a {
			i.Map = Map0F3A
		}
		if at >= len(code) {
			return end, true
		}
		i.Opcode = code[at]
		return at + 1, true
	case 0xc5:
		if at+1 >= len(code) {
			return end, true
		}
		i.Vector, i.Map, i.Opcode = true, Map0F, code[at+1]
		i.Wide, i.RexR, i.RexX, i.RexB = false, code[at]&0x80 == 0, false, false
		return at + 2, true
	case 0xc4:
		return i.readVector(code, at, 3)
	case 0x62:
		return i.readVector(code, at, 7)
	case 0x8f:
		// pop, or XOP if the next byte would name another register (AMD APM volume 3
		// §1.2.5).
		if at < len(code) && code[at]&0x1f >= MapXOP8 {
			return i.readVector(code, at, 0x1f)
		}
	}
	return at, true
}

// readVector reads what VEX of three bytes, EVEX and XOP have in common: X, B and the map in
// the first byte, W in the second. Maps 8 and up are XOP's.
func (i *Instruction) readVector(code []byte, at int, mapMask byte) (int, bool) {
	evex := mapMask == 7
	size := 3
	if evex {
		size = 4
	}
	if at+size > len(code) {
		return end, true
	}
	first, second := code[at], code[at+1]
	i.Vector, i.Opcode, i.Map = true, code[at+size-1], first&mapMask
	i.RexR, i.RexX, i.RexB = first&0x80 == 0, first&0x40 == 0, first&0x20 == 0
	i.Wide = second&0x80 != 0
	switch {
	case evex && (first&8 != 0 || second&4 == 0 || i.Map == 4): // APX: Intel 355828-005
		return at, false
	case mapMask == 3 && first&0x1c != 0:
		i.Map = first & 0x1f
		return at, false
	case mapMask == 0x1f && i.Map > MapXOPA, i.Map == 0, i.Map == 7:
		return at, false
	}
	return at + size, true
}

// readOperands reads what follows the opcode.
func (i *Instruction) readOperands(code []byte, at int) (int, bool) {
	immediate := 4
	if i.Operand16 && !i.Vector {
		immediate = 2
	}
	letter := operands(i.Map, i.Opcode, i.Vector)
	switch letter {
	case '.':
		return at, true
	case 'm':
		return i.readModRM(code, at), true
	case 'b':
		i.Immediate = at
		return at + 1, true
	case 'w':
		i.Immediate = at
		return at + 2, true
	case 'z':
		i.Immediate = at
		return at + immediate, true
	case 'v':
		if i.Wide {
			immediate = 8
		}
		i.Immediate = at
		return at + immediate, true
	case 'e':
		i.Immediate = at
		return at + 3, true
	case 'o':
		i.Immediate = at
		if i.Address32 {
			return at + 4, true
		}
		return at + 8, true
	case 'r':
		i.ModRM = at
		return at + 1, true
	case 'j':
		i.Relative = at
		return at + 1, true
	case 'J':
		i.Relative = at
		return at + 4, true
	case '-', 'p':
		return at, false
	}
	m := byte(0)
	if at < len(code) {
		m = code[at]
	}
	at = i.readModRM(code, at)
	switch letter {
	case 'M':
		i.Immediate = at
		return at + 1, true
	case 'Z':
		if i.Map == MapOneByte && i.Opcode == 0xc7 && m == 0xf8 { // XBEGIN
			i.Relative = at
		} else {
			i.Immediate = at
		}
		return at + immediate, true
	case '3', '#':
		if m>>3&7 > 1 {
			return at, true
		}
		i.Immediate = at
		if letter == '3' {
			return at + 1, true
		}
		return at + immediate, true
	case 's':
		if i.Prefix66 || i.F2 {
			i.Immediate = at
			return at + 2, true
		}
	}
	return at, true
}

// readModRM reads ModRM, SIB and the displacement, and returns the offset of what follows.
func (i *Instruction) readModRM(code []byte, at int) int {
	if at >= len(code) {
		return end
	}
	i.ModRM = at
	m := code[at]
	at++
	mod, rm := m>>6, m&7
	size := 0
	switch mod {
	case 3:
		return at
	case 1:
		size = 1
	case 2:
		size = 4
	}
	switch {
	case rm == 4: // SIB
		if at >= len(code) {
			return end
		}
		if mod == 0 && code[at]&7 == 5 {
			size = 4
		}
		at++
	case mod == 0 && rm == 5:
		size = 4
		i.RIPRelative = true
	}
	if size > 0 {
		i.Displacement = at
	}
	return at + size
}

// Target returns the address that a relative branch at pc goes to.
func (i *Instruction) Target(pc uint64) uint64 {
	next := pc + uint64(len(i.Code))
	d := i.Code[i.Relative:]
	if len(d) == 1 {
		return next + uint64(int64(int8(d[0])))
	}
	return next + uint64(int64(int32(binary.LittleEndian.Uint32(d))))
}
