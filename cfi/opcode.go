// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"iter"

	"github.com/clewdev/clew/arch"
)

// Opcode is the operation of a call frame instruction, DW_CFA_*. Opcodes with an operand in the
// low six bits have zeros there.
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

// Operands is the set of fields of an Instruction that an operation uses. They are stored after
// the opcode in the order Register, Operand, Register2, Expression.
type Operands uint8

const (
	OperandRegister   Operands = 1 << iota // Register
	OperandUnsigned                        // Operand: ULEB128
	OperandSigned                          // Operand: SLEB128
	OperandDelta                           // Operand: an unsigned number; the opcode determines its size
	OperandAddress                         // Operand: an encoded pointer
	OperandRegister2                       // Register2: a register
	OperandSpace                           // Register2: an address space
	OperandExpression                      // Expression
)

// numbers are the forms of Operand. An operation has at most one.
const numbers = OperandUnsigned | OperandSigned | OperandDelta | OperandAddress

// Effect is the part of an [Interpreter]'s state that an operation changes.
type Effect uint8

const (
	EffectNone      Effect = iota // padding
	EffectLocation                // the location: a new row starts
	EffectCFA                     // the rule of the CFA
	EffectRegister                // the rule of the column Register
	EffectRemember                // all rules are saved
	EffectRestore                 // the last saved rules are restored
	EffectArguments               // Row.ArgumentsSize
	EffectSigned                  // Row.Signed is negated
	EffectWindow                  // SPARC: the rules of columns 16 to 31; AArch64: EffectSigned
)

// Vendor is the author of an operation.
type Vendor uint8

const (
	VendorDWARF Vendor = iota // the standard
	VendorGNU
	VendorMIPS
	VendorAArch64
	VendorLLVM
)

// factor is the factor that converts Operand to bytes.
type factor uint8

const (
	factorNone factor = iota
	factorCode
	factorData
	factorMinusData
)

// operation is a row of the table of operations.
type operation struct {
	name     string
	operands Operands
	effect   Effect
	factor   factor
	base     Opcode // see Opcode.Base; 0 means the operation itself
	size     uint8  // of OperandDelta, in bytes; 0 means the low six bits of the opcode
	vendor   Vendor
	on       func(m *arch.Machine) bool // reports whether a machine has the operation; nil means all
}

// The machines of operations that not all machines have.
var (
	longAdvances = func(m *arch.Machine) bool { return m.LongAdvances }
	signsReturns = func(m *arch.Machine) bool { return m.SignsReturns }
	windowSave   = func(m *arch.Machine) bool { return m.RegisterWindows || m.SignsReturns }
)

const (
	registerUnsigned   = OperandRegister | OperandUnsigned
	registerSigned     = OperandRegister | OperandSigned
	registerRegister   = OperandRegister | OperandRegister2
	registerExpression = OperandRegister | OperandExpression
)

// operations describes the opcodes. A new opcode needs a row here and a case in
// Interpreter.Execute.
var operations = [256]operation{
	CFANop:              {name: "DW_CFA_nop"},
	CFASetLoc:           {name: "DW_CFA_set_loc", operands: OperandAddress, effect: EffectLocation},
	CFAAdvanceLoc1:      {name: "DW_CFA_advance_loc1", operands: OperandDelta, effect: EffectLocation, factor: factorCode, base: CFAAdvanceLoc, size: 1},
	CFAAdvanceLoc2:      {name: "DW_CFA_advance_loc2", operands: OperandDelta, effect: EffectLocation, factor: factorCode, base: CFAAdvanceLoc, size: 2},
	CFAAdvanceLoc4:      {name: "DW_CFA_advance_loc4", operands: OperandDelta, effect: EffectLocation, factor: factorCode, base: CFAAdvanceLoc, size: 4},
	CFAOffsetExtended:   {name: "DW_CFA_offset_extended", operands: registerUnsigned, effect: EffectRegister, factor: factorData, base: CFAOffset},
	CFARestoreExtended:  {name: "DW_CFA_restore_extended", operands: OperandRegister, effect: EffectRegister, base: CFARestore},
	CFAUndefined:        {name: "DW_CFA_undefined", operands: OperandRegister, effect: EffectRegister},
	CFASameValue:        {name: "DW_CFA_same_value", operands: OperandRegister, effect: EffectRegister},
	CFARegister:         {name: "DW_CFA_register", operands: registerRegister, effect: EffectRegister},
	CFARememberState:    {name: "DW_CFA_remember_state", effect: EffectRemember},
	CFARestoreState:     {name: "DW_CFA_restore_state", effect: EffectRestore},
	CFADefCFA:           {name: "DW_CFA_def_cfa", operands: registerUnsigned, effect: EffectCFA},
	CFADefCFARegister:   {name: "DW_CFA_def_cfa_register", operands: OperandRegister, effect: EffectCFA},
	CFADefCFAOffset:     {name: "DW_CFA_def_cfa_offset", operands: OperandUnsigned, effect: EffectCFA},
	CFADefCFAExpression: {name: "DW_CFA_def_cfa_expression", operands: OperandExpression, effect: EffectCFA},
	CFAExpression:       {name: "DW_CFA_expression", operands: registerExpression, effect: EffectRegister},
	CFAOffsetExtendedSF: {name: "DW_CFA_offset_extended_sf", operands: registerSigned, effect: EffectRegister, factor: factorData, base: CFAOffset},
	CFADefCFASF:         {name: "DW_CFA_def_cfa_sf", operands: registerSigned, effect: EffectCFA, factor: factorData, base: CFADefCFA},
	CFADefCFAOffsetSF:   {name: "DW_CFA_def_cfa_offset_sf", operands: OperandSigned, effect: EffectCFA, factor: factorData, base: CFADefCFAOffset},
	CFAValOffset:        {name: "DW_CFA_val_offset", operands: registerUnsigned, effect: EffectRegister, factor: factorData},
	CFAValOffsetSF:      {name: "DW_CFA_val_offset_sf", operands: registerSigned, effect: EffectRegister, factor: factorData, base: CFAValOffset},
	CFAValExpression:    {name: "DW_CFA_val_expression", operands: registerExpression, effect: EffectRegister},

	CFAMIPSAdvanceLoc8: {name: "DW_CFA_MIPS_advance_loc8", operands: OperandDelta, effect: EffectLocation, factor: factorCode,
		base: CFAAdvanceLoc, size: 8, vendor: VendorMIPS, on: longAdvances},
	CFAAArch64NegateRAStateWithPC: {name: "DW_CFA_AARCH64_negate_ra_state_with_pc", effect: EffectSigned, vendor: VendorAArch64, on: signsReturns},
	CFAGNUWindowSave:              {name: "DW_CFA_GNU_window_save", effect: EffectWindow, vendor: VendorGNU, on: windowSave},
	CFAGNUArgsSize:                {name: "DW_CFA_GNU_args_size", operands: OperandUnsigned, effect: EffectArguments, vendor: VendorGNU},
	CFAGNUNegativeOffsetExtended: {name: "DW_CFA_GNU_negative_offset_extended", operands: registerUnsigned, effect: EffectRegister,
		factor: factorMinusData, base: CFAOffset, vendor: VendorGNU},
	CFALLVMDefAspaceCFA: {name: "DW_CFA_LLVM_def_aspace_cfa", operands: registerUnsigned | OperandSpace, effect: EffectCFA, vendor: VendorLLVM},
	CFALLVMDefAspaceCFASF: {name: "DW_CFA_LLVM_def_aspace_cfa_sf", operands: registerSigned | OperandSpace, effect: EffectCFA,
		factor: factorData, base: CFALLVMDefAspaceCFA, vendor: VendorLLVM},

	CFAAdvanceLoc: {name: "DW_CFA_advance_loc", operands: OperandDelta, effect: EffectLocation, factor: factorCode},
	CFAOffset:     {name: "DW_CFA_offset", operands: registerUnsigned, effect: EffectRegister, factor: factorData},
	CFARestore:    {name: "DW_CFA_restore", operands: OperandRegister, effect: EffectRegister},
}

// Opcodes yields the known opcodes in ascending order.
func Opcodes() iter.Seq[Opcode] {
	return func(yield func(Opcode) bool) {
		for o := range operations {
			if operations[o].name != "" && !yield(Opcode(o)) {
				return
			}
		}
	}
}

// Name returns the operation's DW_CFA_ name on a machine. Byte 0x2d has another meaning on
// AArch64 than on other machines.
func (o Opcode) Name(m *arch.Machine) string {
	if o == CFAAArch64NegateRAState && m.SignsReturns {
		return "DW_CFA_AARCH64_negate_ra_state"
	}
	if n := operations[o].name; n != "" {
		return n
	}
	return fmt.Sprintf("DW_CFA_%#02x", uint8(o))
}

// Operands returns the operands of an operation, or 0 if it has none or is unknown.
func (o Opcode) Operands() Operands { return operations[o].operands }

// Effect returns the effect of an operation.
func (o Opcode) Effect() Effect { return operations[o].effect }

// Base returns the basic form of an operation that has several encodings: DW_CFA_offset for
// DW_CFA_offset_extended_sf. It returns other operations unchanged.
func (o Opcode) Base() Opcode {
	if b := operations[o].base; b != 0 {
		return b
	}
	return o
}

// Vendor returns the author of an operation.
func (o Opcode) Vendor() Vendor { return operations[o].vendor }

// DefinedOn reports whether an operation is defined on a machine. An Interpreter executes
// DW_CFA_MIPS_advance_loc8 and DW_CFA_AARCH64_negate_ra_state_with_pc on all machines, because
// no other operation has their numbers.
func (o Opcode) DefinedOn(m *arch.Machine) bool {
	op := &operations[o]
	return op.name != "" && (op.on == nil || op.on(m))
}

// Value returns Operand in bytes, multiplied by the code or data alignment factor if the
// operation is factored.
func (ins *Instruction) Value(cie *CIE) int64 {
	switch operations[ins.Op].factor {
	case factorCode:
		return ins.Operand * int64(cie.CodeAlign)
	case factorData:
		return ins.Operand * cie.DataAlign
	case factorMinusData:
		return -ins.Operand * cie.DataAlign
	}
	return ins.Operand
}
