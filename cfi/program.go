// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"math/bits"
)

// Program is the unwind table of a function, independent of the function's address. Several
// functions may share a Program, and several programs a CIE. [Builder.Program] and [NewProgram]
// return one, and [FDE.Program] returns one from a compiler's table. A Program must not be
// changed after its first use, and may then be used concurrently.
type Program struct {
	CIE *CIE

	// Instructions follow the CIE's, encoded for its machine and factors. They must not
	// depend on the function's address, as DW_CFA_set_loc does. An [Encoder] does not check
	// them.
	Instructions []byte

	// End is the start of the last row, in bytes from the function's start. No function with
	// this table may be shorter, which package jit checks. A last row at the end of a
	// function, as some compilers write it, covers no code.
	End uint64

	// LSDA is the language-specific data area; the CIE's LSDAEncoding must be set for it.
	LSDA Pointer

	valid []byte // the instructions, if they are known to decode
}

// NewProgram returns a table of instructions that are encoded already, or the error with which
// they do not decode. The CIE must have a Section. The table owns the instructions.
func NewProgram(cie *CIE, instructions []byte, end uint64) (*Program, error) {
	p := &Program{CIE: cie, Instructions: instructions, End: end}
	if err := p.Check(); err != nil {
		return nil, err
	}
	p.valid = instructions
	return p, nil
}

// Check returns the error with which the instructions of the table do not decode, or nil. Those
// of a Builder and of NewProgram are known to decode. The CIE must have a Section.
func (p *Program) Check() error {
	if n := len(p.Instructions); n == 0 || n == len(p.valid) && &p.valid[0] == &p.Instructions[0] {
		return nil
	}
	d := decode(p.CIE, 0, p.Instructions, 0)
	var ins Instruction
	for d.Next(&ins) {
	}
	return d.Err()
}

// Program returns the table of a decoded FDE, for a function at any address. Each
// DW_CFA_set_loc becomes an advance. Expressions are not changed. The error is that of decoding,
// or wraps ErrRange if an address is before the function or an instruction is not valid.
func (f *FDE) Program() (*Program, error) {
	b := NewBuilder(f.CIE)
	d := f.Decode()
	var ins Instruction
	for d.Next(&ins) {
		switch {
		case ins.Op != CFASetLoc:
			b.Instruction(ins)
		case uint64(ins.Operand) < f.Start:
			b.fail("DW_CFA_set_loc to %#x, before the function's start at %#x", uint64(ins.Operand), f.Start)
		default:
			b.At(uint64(ins.Operand) - f.Start)
		}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	p, err := b.Program()
	if err != nil {
		return nil, fmt.Errorf("FDE at %#x: %w", f.Offset, err)
	}
	p.LSDA = f.LSDA
	return p, nil
}

// instruction appends an instruction to a program, for a function at an address and a CIE
// with an encoding of pointers.
func (w *writer) instruction(e Encoding, function uint64, ins *Instruction) {
	op := &operations[ins.Op]
	if op.name == "" {
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
	if op.operands&OperandRegister != 0 {
		w.uleb128(ins.Register)
	}
	switch op.operands & numbers {
	case OperandUnsigned:
		w.uleb128(uint64(ins.Operand))
	case OperandSigned:
		w.sleb128(ins.Operand)
	case OperandDelta:
		w.uint(uint64(ins.Operand), int(op.size))
	case OperandAddress:
		switch {
		case e == EncAbsptr:
			w.uint(uint64(ins.Operand), w.width)
		case e&EncIndirect != 0:
			w.pointer(e, Pointer{ins.Register2, true}, function, false)
		default:
			w.pointer(e, Pointer{Address: uint64(ins.Operand)}, function, false)
		}
	}
	switch {
	case op.operands&(OperandRegister2|OperandSpace) != 0:
		w.uleb128(ins.Register2)
	case op.operands&OperandExpression != 0:
		w.uleb128(uint64(len(ins.Expression)))
		w.Data = append(w.Data, ins.Expression...)
	}
}

// program appends instructions, which d decodes. It copies them if they mean the same in this
// section, else it encodes them one by one.
func (w *writer) program(cie *writtenCIE, d Decoder, instructions []byte, function uint64) {
	from := d.c.s
	m := from.Machine
	sameLayout := m.Order == w.Machine.Order && m.AddressSize == w.Machine.AddressSize && d.c.width == w.width
	if sameLayout && verbatim(instructions) {
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
		w.err = fmt.Errorf("in the original %s: %w", from.Name, err)
	}
}

// operandShapes are the operands after each opcode: the numbers of fixed bytes (low four bits)
// and LEB128s, or mustExamine if verbatim must examine them.
var operandShapes = func() (shapes [256]uint8) {
	for b := range shapes {
		code := Opcode(b)
		if high := code & 0xc0; high != 0 {
			code = high
		}
		op := &operations[code]
		if op.name == "" || op.operands&(OperandAddress|OperandExpression) != 0 {
			shapes[b] = mustExamine
			continue
		}
		numbers := bits.OnesCount8(uint8(op.operands &^ OperandDelta))
		if code == CFAOffset || code == CFARestore {
			numbers-- // the register is in the opcode
		}
		shapes[b] = uint8(numbers)<<4 | op.size
	}
	return shapes
}()

const mustExamine = 0xff

// verbatim reports whether instructions are complete and independent of their address: they
// have no DW_CFA_set_loc and no expressions with an encoded address. If in doubt, it returns
// false.
func verbatim(p []byte) bool {
	for i := 0; i < len(p); {
		op := p[i]
		shape := operandShapes[op]
		i++
		switch {
		case shape == 0:
		case shape != mustExamine:
			i += int(shape & 15)
			for n := shape >> 4; n > 0; n-- {
				// A number may have 63 bits, which are nine bytes.
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
		case Opcode(op).Operands()&OperandExpression != 0:
			if Opcode(op).Operands()&OperandRegister != 0 {
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
