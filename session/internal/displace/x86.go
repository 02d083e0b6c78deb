// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"fmt"
)

// x86MaxSize is the most bytes of an instruction; longer ones fault.
const x86MaxSize = 15

// An x86Instruction is an instruction's bytes and where their parts lie.
type x86Instruction struct {
	code []byte // exactly the instruction

	wide      bool // REX.W, VEX.W
	rexX      bool // the index register of the operand is one of r8 to r15
	rexB      bool // its base
	operand16 bool // 66 that REX.W does not override
	prefix66  bool
	address32 bool // 67
	f2, f3    bool
	lock      bool
	vector    bool // VEX, EVEX or XOP

	opcodeMap byte
	opcode    byte
	opcodeAt  int

	modRM        int // offset, 0 where there is none
	displacement int // offset of a memory operand's displacement, 0 where there is none
	ripRelative  bool
	relative     int // offset of a branch's displacement, which ends the instruction; 0 where there is none
}

// x86Reader reads an instruction's bytes.
type x86Reader struct {
	code []byte
	at   int
	err  error
}

func (r *x86Reader) byte() byte {
	if r.at >= x86MaxSize {
		r.fail("longer than 15 bytes")
	} else if r.at >= len(r.code) {
		r.fail("it continues after the %d bytes there are", len(r.code))
	}
	if r.err != nil {
		return 0
	}
	r.at++
	return r.code[r.at-1]
}

func (r *x86Reader) skip(n int) {
	for range n {
		r.byte()
	}
}

func (r *x86Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

// decodeX86Parts finds the parts of the instruction that code starts with.
func decodeX86Parts(code []byte) (x86Instruction, error) {
	r := x86Reader{code: code}
	var i x86Instruction
	i.readOpcode(&r)
	i.readOperands(&r)
	if r.err != nil {
		return x86Instruction{}, r.err
	}
	i.code = code[:r.at]
	return i, nil
}

// readOpcode reads the prefixes, the escapes and the opcode.
func (i *x86Instruction) readOpcode(r *x86Reader) {
	rex := byte(0)
	for {
		b := r.byte()
		i.opcode, i.opcodeAt = b, r.at-1
		switch b {
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		case 0xf0:
			i.lock = true
		case 0x66:
			i.prefix66 = true
		case 0x67:
			i.address32 = true
		case 0xf2:
			i.f2, i.f3 = true, false // the last one counts
		case 0xf3:
			i.f2, i.f3 = false, true
		default:
			if b&0xf0 == 0x40 {
				rex = b
				continue
			}
			i.wide, i.rexX, i.rexB = rex&8 != 0, rex&2 != 0, rex&1 != 0
			i.readEscape(r, b)
			i.operand16 = i.prefix66 && !i.wide
			return
		}
		rex = 0 // it counts right before the opcode only
		if r.err != nil {
			return
		}
	}
}

// readEscape reads what stands between the prefixes and the opcode.
func (i *x86Instruction) readEscape(r *x86Reader, b byte) {
	switch b {
	case 0x0f:
		i.opcodeMap, i.opcode = map0F, r.byte()
		switch i.opcode {
		case 0x38:
			i.opcodeMap, i.opcode = map0F38, r.byte()
		case 0x3a:
			i.opcodeMap, i.opcode = map0F3A, r.byte()
		}
	case 0xc5:
		r.byte()
		i.vector, i.opcodeMap, i.opcode = true, map0F, r.byte()
		i.wide = false
	case 0xc4:
		i.readVector(r, 3)
	case 0x62:
		i.readVector(r, 7)
		if r.err == nil && (i.opcodeMap == 4 || r.code[i.opcodeAt+2]&4 == 0) {
			r.fail("EVEX of no known form")
		}
		i.opcodeAt = r.at - 1
		return
	case 0x8f:
		// pop, or XOP where the next byte would name another register (AMD
		// APM volume 3 §1.2.5).
		if r.at < len(r.code) && r.code[r.at]&0x1f >= mapXOP8 {
			i.readVector(r, 0x1f)
		}
	}
	i.opcodeAt = r.at - 1
}

// readVector reads what VEX of three bytes, EVEX and XOP have in common: X, B and
// the map in the first byte, W in the second. Maps 8 and up are XOP's.
func (i *x86Instruction) readVector(r *x86Reader, mapMask byte) {
	evex := mapMask == 7
	first, second := r.byte(), r.byte()
	if evex {
		r.byte()
		if first&8 != 0 {
			r.fail("EVEX of no known form")
		}
	} else if mapMask == 3 && first&0x1c != 0 {
		r.fail("VEX with the unknown map %d", first&0x1f)
	}
	i.vector = true
	i.rexX, i.rexB = first&0x40 == 0, first&0x20 == 0
	i.wide = second&0x80 != 0
	i.opcodeMap = first & mapMask
	if !evex && mapMask == 0x1f && i.opcodeMap > mapXOPA || i.opcodeMap == 0 || i.opcodeMap == 7 {
		r.fail("the unknown opcode map %d", i.opcodeMap)
	}
	i.opcode = r.byte()
}

// readOperands reads what follows the opcode.
func (i *x86Instruction) readOperands(r *x86Reader) {
	immediate := 4
	if i.operand16 && !i.vector {
		immediate = 2
	}
	switch letter := x86Operands(i.opcodeMap, i.opcode, i.vector); letter {
	case '.':
	case 'b':
		r.skip(1)
	case 'w':
		r.skip(2)
	case 'z':
		r.skip(immediate)
	case 'v':
		if i.wide {
			immediate = 8
		}
		r.skip(immediate)
	case 'e':
		r.skip(3)
	case 'o':
		if i.address32 {
			r.skip(4)
		} else {
			r.skip(8)
		}
	case 'm':
		i.readModRM(r)
	case 'M':
		i.readModRM(r)
		r.skip(1)
	case 'Z':
		m := i.readModRM(r)
		if i.isXBegin(m) {
			i.relative = r.at
		}
		r.skip(immediate)
	case '3', '#':
		if m := i.readModRM(r); m>>3&7 > 1 {
			return
		}
		if letter == '3' {
			immediate = 1
		}
		r.skip(immediate)
	case 'r':
		r.byte()
	case 's':
		i.readModRM(r)
		if i.prefix66 || i.f2 {
			r.skip(2)
		}
	case 'j':
		i.relative = r.at
		r.skip(1)
	case 'J':
		i.relative = r.at
		r.skip(4)
	default:
		r.fail("opcode %02x of map %d is invalid in 64-bit mode", i.opcode, i.opcodeMap)
	}
}

// isXBegin tells XBEGIN, whose ModRM byte is part of the opcode, from mov.
func (i *x86Instruction) isXBegin(modRM byte) bool {
	return i.opcodeMap == mapOneByte && i.opcode == 0xc7 && modRM == 0xf8
}

// readModRM reads ModRM, SIB and the displacement, and returns ModRM.
func (i *x86Instruction) readModRM(r *x86Reader) byte {
	i.modRM = r.at
	m := r.byte()
	mod, rm := m>>6, m&7
	if mod == 3 {
		return m
	}
	size := [3]int{0, 1, 4}[mod]
	switch {
	case rm == 4: // SIB
		if sib := r.byte(); mod == 0 && sib&7 == 5 {
			size = 4
		}
	case mod == 0 && rm == 5:
		size = 4
		i.ripRelative = true
	}
	if size > 0 {
		i.displacement = r.at
		r.skip(size)
	}
	return m
}

// branchTarget is the address that a relative branch at pc goes to.
func (i *x86Instruction) branchTarget(pc uint64) uint64 {
	next := pc + uint64(len(i.code))
	d := i.code[i.relative:]
	if len(d) == 1 {
		return next + uint64(int64(int8(d[0])))
	}
	return next + uint64(int64(int32(binary.LittleEndian.Uint32(d))))
}
