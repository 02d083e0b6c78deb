// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

// Instruction is one call frame instruction with its stored operands: factored offsets and
// deltas are not multiplied. It contains everything that is needed to encode it again.
type Instruction struct {
	Op     Opcode
	Offset uint64 // of the opcode, in the section
	Size   uint64 // in bytes

	Register  uint64
	Register2 uint64 // of DW_CFA_register; the address space of DW_CFA_LLVM_def_aspace_cfa; the slot of an indirect DW_CFA_set_loc

	// Operand is a delta or an offset, or the address of DW_CFA_set_loc, without load bias.
	// An unsigned operand is stored by its bits.
	Operand int64

	Expression []byte // aliases the section
}

// instruction decodes the next instruction.
func (c *cursor) instruction(cie *CIE, function uint64, ins *Instruction) {
	start := c.Off
	b := c.Uint8()
	*ins = Instruction{Op: Opcode(b), Offset: start}
	if high := b & 0xc0; high != 0 {
		ins.Op = Opcode(high)
		ins.Register = uint64(b & 0x3f)
	}
	op := &operations[ins.Op]
	if op.operands&OperandRegister != 0 && b < 0x40 {
		ins.Register = c.ULEB128()
	}
	switch op.operands & numbers {
	case OperandUnsigned:
		ins.Operand = int64(c.ULEB128())
	case OperandSigned:
		ins.Operand = c.SLEB128()
	case OperandDelta:
		if ins.Op == CFAAdvanceLoc {
			ins.Operand, ins.Register = int64(ins.Register), 0
		} else {
			ins.Operand = int64(c.Uint(int(op.size)))
		}
	case OperandAddress:
		if cie.PointerEncoding == EncAbsptr {
			ins.Operand = int64(c.Uint(c.width))
			break
		}
		p := c.pointer(cie.PointerEncoding, function, false)
		ins.Operand = int64(p.Address)
		if p.Indirect && c.Err == nil {
			ins.Operand, ins.Register2 = int64(c.s.follow(c, p.Address)), p.Address
		}
	}
	switch {
	case op.operands&(OperandRegister2|OperandSpace) != 0:
		ins.Register2 = c.ULEB128()
	case op.operands&OperandExpression != 0:
		ins.Expression = c.Bytes(c.ULEB128())
	case op.name == "":
		c.Off = start
		c.fail(ErrInstruction, "unknown operation %#02x", b)
	}
	ins.Size = c.Off - start
}

// Decoder yields the instructions of a CIE or an FDE. The zero value yields none.
type Decoder struct {
	c        cursor
	cie      *CIE
	function uint64
}

// Decode returns a Decoder of the CIE's instructions.
func (cie *CIE) Decode() Decoder {
	return decode(cie, cie.InstructionsOffset, cie.Instructions, 0)
}

// Decode returns a Decoder of the FDE's own instructions.
func (f *FDE) Decode() Decoder {
	return decode(f.CIE, f.InstructionsOffset, f.Instructions, f.Start)
}

// decode returns a Decoder of instructions at an offset of the CIE's section, or, if they are
// not in the section, of the instructions alone.
func decode(cie *CIE, offset uint64, instructions []byte, function uint64) Decoder {
	s := cie.Section
	if !s.contains(offset, instructions) {
		s = &Section{Name: "instructions", Kind: s.Kind, Machine: s.Machine, Data: instructions}
		offset = 0
	}
	return Decoder{s.program(cie, offset, instructions), cie, function}
}

// contains reports whether bytes alias the section from an offset on.
func (s *Section) contains(offset uint64, bytes []byte) bool {
	return offset <= uint64(len(s.Data)) && uint64(len(bytes)) <= uint64(len(s.Data))-offset &&
		(len(bytes) == 0 || &s.Data[offset] == &bytes[0])
}

func (s *Section) program(cie *CIE, offset uint64, instructions []byte) cursor {
	c := s.cursor(offset, offset+uint64(len(instructions)))
	if cie.AddressSize != 0 {
		c.width = int(cie.AddressSize)
	}
	return c
}

// Next decodes the next instruction into ins. It returns false at the end and at the first
// malformed instruction.
func (d *Decoder) Next(ins *Instruction) bool {
	if d.c.Err != nil || d.c.Off >= d.c.End {
		return false
	}
	d.c.instruction(d.cie, d.function, ins)
	return d.c.Err == nil
}

// Err returns the error that stopped the decoding, or nil.
func (d *Decoder) Err() error { return d.c.Err }
