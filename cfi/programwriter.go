// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import "fmt"

// instruction appends an instruction to a program whose CIE stores pointers in
// an encoding, for a function that starts at an address.
func (w *writer) instruction(e Encoding, function uint64, ins *Instruction) {
	shape := cfaOps[ins.Op].operands
	if shape == 0 {
		w.fail(ErrInstruction, "unknown operation %#02x", uint8(ins.Op))
		return
	}
	if high := ins.Op & 0xc0; high != 0 {
		low := ins.Register
		if ins.Op == CFAAdvanceLoc {
			low = uint64(ins.Operand)
		}
		if low > 0x3f {
			w.fail(ErrRange, "%s: %d does not fit six bits", ins.Op.Name(w.Machine), low)
			return
		}
		w.uint8(uint8(ins.Op) | uint8(low))
		if ins.Op == CFAOffset {
			w.uleb128(uint64(ins.Operand))
		}
		return
	}
	w.uint8(uint8(ins.Op))
	switch shape {
	case opAddress:
		switch {
		case e == EncAbsptr:
			w.uint(uint64(ins.Operand), w.width)
		case e&EncIndirect != 0:
			w.pointer(e, Pointer{ins.Register2, true}, function, false)
		default:
			w.pointer(e, Pointer{Address: uint64(ins.Operand)}, function, false)
		}
	case opDelta:
		w.uint(uint64(ins.Operand), deltaSizes[ins.Op])
	case opReg:
		w.uleb128(ins.Register)
	case opRegReg:
		w.uleb128(ins.Register)
		w.uleb128(ins.Register2)
	case opRegUnsigned, opRegUnsignedAspace:
		w.uleb128(ins.Register)
		w.uleb128(uint64(ins.Operand))
	case opRegSigned, opRegSignedAspace:
		w.uleb128(ins.Register)
		w.sleb128(ins.Operand)
	case opUnsigned:
		w.uleb128(uint64(ins.Operand))
	case opSigned:
		w.sleb128(ins.Operand)
	case opRegExpr, opExpr:
		if shape == opRegExpr {
			w.uleb128(ins.Register)
		}
		w.uleb128(uint64(len(ins.Expression)))
		w.Data = append(w.Data, ins.Expression...)
	}
	if shape == opRegUnsignedAspace || shape == opRegSignedAspace {
		w.uleb128(ins.Register2)
	}
}

// program appends instructions, which d decodes: as they are where they mean
// the same in this section, else one by one.
func (w *writer) program(cie *writtenCIE, d Decoder, instructions []byte, function uint64) {
	from := d.c.s
	m := from.Machine
	as := m.Order == w.Machine.Order && m.AddressSize == w.Machine.AddressSize && d.c.width == w.width
	if as && verbatim(instructions) {
		w.Data = append(w.Data, instructions...)
		return
	}
	var ins Instruction
	for d.Next(&ins) {
		if len(ins.Expression) > 0 && w.err == nil {
			ins.Expression, w.err = from.translated(&ins, w.Machine)
		}
		w.instruction(cie.encoding, function, &ins)
		if w.err != nil {
			return
		}
	}
	if err := d.Err(); err != nil {
		w.err = fmt.Errorf("in the %s that is written again: %w", from.Name, err)
	}
}

// operandShapes say what stands behind an opcode whose program may be copied:
// the numbers of fixed bytes (low four bits) and LEB128s, or that it has to be
// looked at.
var operandShapes = func() (shapes [256]uint8) {
	for op := range shapes {
		shapes[op] = lookAt
		code := Opcode(op)
		if high := code & 0xc0; high != 0 {
			code = high
		}
		switch cfaOps[code].operands {
		case opNone:
			shapes[op] = 0
		case opDelta:
			shapes[op] = 0
			if code != CFAAdvanceLoc {
				shapes[op] = uint8(deltaSizes[code])
			}
		case opReg, opUnsigned, opSigned:
			shapes[op] = 1 << 4
		case opRegReg, opRegUnsigned, opRegSigned:
			shapes[op] = 2 << 4
		case opRegUnsignedAspace, opRegSignedAspace:
			shapes[op] = 3 << 4
		}
		switch code {
		case CFARestore:
			shapes[op] = 0
		case CFAOffset:
			shapes[op] = 1 << 4
		}
	}
	return shapes
}()

const lookAt = 0xff

// verbatim reports whether instructions are whole and mean the same wherever
// they stand: DW_CFA_set_loc may not, nor an expression with an encoded address.
// Where a look does not tell it returns false.
func verbatim(p []byte) bool {
	for i := 0; i < len(p); {
		op := p[i]
		shape := operandShapes[op]
		i++
		switch {
		case shape == 0:
		case shape != lookAt:
			i += int(shape & 15)
			for n := shape >> 4; n > 0; n-- {
				// Nine bytes are 63 bits, which any number may have.
				for end := i + 8; i < len(p) && p[i] >= 0x80 && i < end; i++ {
				}
				if i >= len(p) || p[i] >= 0x80 {
					return false
				}
				i++
			}
			if i > len(p) {
				return false
			}
		case Opcode(op) == CFADefCFAExpression || Opcode(op) == CFAExpression || Opcode(op) == CFAValExpression:
			if Opcode(op) != CFADefCFAExpression {
				if i >= len(p) || p[i] >= 0x80 {
					return false
				}
				i++
			}
			if i >= len(p) || p[i] >= 0x80 || int(p[i]) >= len(p)-i {
				return false
			}
			end := i + 1 + int(p[i])
			for i++; i < end; i++ {
				if Op(p[i]) == OpEncodedAddr {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}
