// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
)

// Opcode is the operation of a call frame instruction, DW_CFA_*. Those that
// hold an operand in their low six bits are named with these bits zero.
type Opcode uint8

const (
	CFANop              Opcode = 0x00
	CFASetLoc           Opcode = 0x01
	CFAAdvanceLoc1      Opcode = 0x02
	CFAAdvanceLoc2      Opcode = 0x03
	CFAAdvanceLoc4      Opcode = 0x04
	CFAOffsetExtended   Opcode = 0x05
	CFARestoreExtended  Opcode = 0x06
	CFAUndefined        Opcode = 0x07
	CFASameValue        Opcode = 0x08
	CFARegister         Opcode = 0x09
	CFARememberState    Opcode = 0x0a
	CFARestoreState     Opcode = 0x0b
	CFADefCFA           Opcode = 0x0c
	CFADefCFARegister   Opcode = 0x0d
	CFADefCFAOffset     Opcode = 0x0e
	CFADefCFAExpression Opcode = 0x0f
	CFAExpression       Opcode = 0x10
	CFAOffsetExtendedSF Opcode = 0x11
	CFADefCFASF         Opcode = 0x12
	CFADefCFAOffsetSF   Opcode = 0x13
	CFAValOffset        Opcode = 0x14
	CFAValOffsetSF      Opcode = 0x15
	CFAValExpression    Opcode = 0x16

	CFAMIPSAdvanceLoc8            Opcode = 0x1d
	CFAAArch64NegateRAStateWithPC Opcode = 0x2c // AArch64 ABI, "DWARF for the Arm 64-bit Architecture"
	CFAGNUWindowSave              Opcode = 0x2d // SPARC
	CFAAArch64NegateRAState       Opcode = 0x2d // AArch64: the same byte
	CFAGNUArgsSize                Opcode = 0x2e
	CFAGNUNegativeOffsetExtended  Opcode = 0x2f
	CFALLVMDefAspaceCFA           Opcode = 0x30
	CFALLVMDefAspaceCFASF         Opcode = 0x31

	CFAAdvanceLoc Opcode = 0x40 // the delta in the low six bits
	CFAOffset     Opcode = 0x80 // the register in the low six bits
	CFARestore    Opcode = 0xc0 // the register in the low six bits
)

// operands is what follows an opcode byte.
type operands uint8

const (
	opNone              operands = iota + 1
	opAddress                    // an encoded pointer
	opDelta                      // Operand: fixed size, by the opcode
	opReg                        // Register
	opRegReg                     // Register, Register2
	opRegUnsigned                // Register, Operand: ULEB128
	opRegSigned                  // Register, Operand: SLEB128
	opUnsigned                   // Operand: ULEB128
	opSigned                     // Operand: SLEB128
	opExpr                       // Expression
	opRegExpr                    // Register, Expression
	opRegUnsignedAspace          // Register, Operand, Register2: the address space
	opRegSignedAspace
)

var cfaOps = [256]struct {
	name     string
	operands operands
}{
	CFANop:              {"DW_CFA_nop", opNone},
	CFASetLoc:           {"DW_CFA_set_loc", opAddress},
	CFAAdvanceLoc1:      {"DW_CFA_advance_loc1", opDelta},
	CFAAdvanceLoc2:      {"DW_CFA_advance_loc2", opDelta},
	CFAAdvanceLoc4:      {"DW_CFA_advance_loc4", opDelta},
	CFAOffsetExtended:   {"DW_CFA_offset_extended", opRegUnsigned},
	CFARestoreExtended:  {"DW_CFA_restore_extended", opReg},
	CFAUndefined:        {"DW_CFA_undefined", opReg},
	CFASameValue:        {"DW_CFA_same_value", opReg},
	CFARegister:         {"DW_CFA_register", opRegReg},
	CFARememberState:    {"DW_CFA_remember_state", opNone},
	CFARestoreState:     {"DW_CFA_restore_state", opNone},
	CFADefCFA:           {"DW_CFA_def_cfa", opRegUnsigned},
	CFADefCFARegister:   {"DW_CFA_def_cfa_register", opReg},
	CFADefCFAOffset:     {"DW_CFA_def_cfa_offset", opUnsigned},
	CFADefCFAExpression: {"DW_CFA_def_cfa_expression", opExpr},
	CFAExpression:       {"DW_CFA_expression", opRegExpr},
	CFAOffsetExtendedSF: {"DW_CFA_offset_extended_sf", opRegSigned},
	CFADefCFASF:         {"DW_CFA_def_cfa_sf", opRegSigned},
	CFADefCFAOffsetSF:   {"DW_CFA_def_cfa_offset_sf", opSigned},
	CFAValOffset:        {"DW_CFA_val_offset", opRegUnsigned},
	CFAValOffsetSF:      {"DW_CFA_val_offset_sf", opRegSigned},
	CFAValExpression:    {"DW_CFA_val_expression", opRegExpr},

	CFAMIPSAdvanceLoc8:            {"DW_CFA_MIPS_advance_loc8", opDelta},
	CFAAArch64NegateRAStateWithPC: {"DW_CFA_AARCH64_negate_ra_state_with_pc", opNone},
	CFAGNUWindowSave:              {"DW_CFA_GNU_window_save", opNone},
	CFAGNUArgsSize:                {"DW_CFA_GNU_args_size", opUnsigned},
	CFAGNUNegativeOffsetExtended:  {"DW_CFA_GNU_negative_offset_extended", opRegUnsigned},
	CFALLVMDefAspaceCFA:           {"DW_CFA_LLVM_def_aspace_cfa", opRegUnsignedAspace},
	CFALLVMDefAspaceCFASF:         {"DW_CFA_LLVM_def_aspace_cfa_sf", opRegSignedAspace},

	CFAAdvanceLoc: {"DW_CFA_advance_loc", opDelta},
	CFAOffset:     {"DW_CFA_offset", opRegUnsigned},
	CFARestore:    {"DW_CFA_restore", opReg},
}

// Name returns the operation's DW_CFA_ name on a machine, which decides what
// the byte 0x2d means.
func (o Opcode) Name(m *arch.Machine) string {
	if o == CFAAArch64NegateRAState && m.ELF == elf.EM_AARCH64 {
		return "DW_CFA_AARCH64_negate_ra_state"
	}
	if n := cfaOps[o].name; n != "" {
		return n
	}
	return fmt.Sprintf("DW_CFA_%#02x", uint8(o))
}

// Instruction is one call frame instruction, its operands as they are stored:
// factored offsets and deltas are not yet multiplied. It holds all that is
// needed to encode it again.
type Instruction struct {
	Op     Opcode
	Offset uint64 // of the opcode, in the section
	Size   uint64 // bytes

	Register  uint64
	Register2 uint64 // of DW_CFA_register; the address space of DW_CFA_LLVM_def_aspace_cfa; the slot of an indirect DW_CFA_set_loc

	// Operand is a delta or an offset. DW_CFA_set_loc: the address, without
	// load bias. Operations with an unsigned operand hold its bits.
	Operand int64

	Expression []byte // aliases the section
}

// instruction decodes the next instruction.
func (c *cursor) instruction(cie *CIE, function uint64, ins *Instruction) {
	start := c.off
	b := c.uint8()
	*ins = Instruction{Op: Opcode(b), Offset: start}
	if high := b & 0xc0; high != 0 {
		ins.Op = Opcode(high)
		ins.Register = uint64(b & 0x3f)
	}
	switch cfaOps[ins.Op].operands {
	case opNone:
	case opAddress:
		if cie.PointerEncoding == EncAbsptr {
			ins.Operand = int64(c.uint(c.width))
			break
		}
		p := c.pointer(cie.PointerEncoding, function, false)
		ins.Operand = int64(p.Address)
		if p.Indirect && c.err == nil {
			ins.Operand, ins.Register2 = int64(c.s.follow(c, p.Address)), p.Address
		}
	case opDelta:
		if ins.Op == CFAAdvanceLoc {
			ins.Operand, ins.Register = int64(ins.Register), 0
		} else {
			ins.Operand = int64(c.uint(deltaSizes[ins.Op]))
		}
	case opReg:
		if ins.Op != CFARestore {
			ins.Register = c.uleb128()
		}
	case opRegReg:
		ins.Register, ins.Register2 = c.uleb128(), c.uleb128()
	case opRegUnsigned:
		if ins.Op != CFAOffset {
			ins.Register = c.uleb128()
		}
		ins.Operand = int64(c.uleb128())
	case opRegSigned:
		ins.Register, ins.Operand = c.uleb128(), c.sleb128()
	case opUnsigned:
		ins.Operand = int64(c.uleb128())
	case opSigned:
		ins.Operand = c.sleb128()
	case opExpr:
		ins.Expression = c.bytes(c.uleb128())
	case opRegExpr:
		ins.Register = c.uleb128()
		ins.Expression = c.bytes(c.uleb128())
	case opRegUnsignedAspace:
		ins.Register, ins.Operand, ins.Register2 = c.uleb128(), int64(c.uleb128()), c.uleb128()
	case opRegSignedAspace:
		ins.Register, ins.Operand, ins.Register2 = c.uleb128(), c.sleb128(), c.uleb128()
	default:
		c.off = start
		c.fail(ErrInstruction, "unknown operation %#02x", b)
	}
	ins.Size = c.off - start
}

// deltaSizes are the bytes of the deltas that stand behind their opcodes.
var deltaSizes = [...]int{CFAAdvanceLoc1: 1, CFAAdvanceLoc2: 2, CFAAdvanceLoc4: 4, CFAMIPSAdvanceLoc8: 8}

// Decoder yields the instructions of a CIE or an FDE one by one. The zero
// value yields none.
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

// decode returns a Decoder of instructions at an offset of the CIE's section, or
// by themselves where they were not decoded from it.
func decode(cie *CIE, offset uint64, instructions []byte, function uint64) Decoder {
	s := cie.Section
	if !s.holds(offset, instructions) {
		s = &Section{Name: "instructions", Kind: s.Kind, Machine: s.Machine, Data: instructions}
		offset = 0
	}
	return Decoder{s.program(cie, offset, instructions), cie, function}
}

// holds reports whether bytes are those of the section from an offset on.
func (s *Section) holds(offset uint64, bytes []byte) bool {
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

// Next decodes the next instruction into ins and returns false at the end and
// at the first malformed one.
func (d *Decoder) Next(ins *Instruction) bool {
	if d.c.err != nil || d.c.off >= d.c.end {
		return false
	}
	d.c.instruction(d.cie, d.function, ins)
	return d.c.err == nil
}

// Err returns what ended the decoding before the end of the instructions.
func (d *Decoder) Err() error { return d.c.err }
