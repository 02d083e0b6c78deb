// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"strconv"

	"github.com/clewdev/clew/cfi"
)

// operandKind tells which fields of an instruction are meant.
type operandKind uint8

const (
	noOperands operandKind = iota
	addressOperand
	numberOperand
	registerOperand
	twoRegisters
	registerAndNumber
	expressionOperand
	registerAndExpression
	registerNumberSpace
)

func operandsOf(op cfi.Opcode) operandKind {
	switch op {
	case cfi.CFASetLoc:
		return addressOperand
	case cfi.CFAAdvanceLoc, cfi.CFAAdvanceLoc1, cfi.CFAAdvanceLoc2, cfi.CFAAdvanceLoc4, cfi.CFAMIPSAdvanceLoc8,
		cfi.CFADefCFAOffset, cfi.CFADefCFAOffsetSF, cfi.CFAGNUArgsSize:
		return numberOperand
	case cfi.CFARestore, cfi.CFARestoreExtended, cfi.CFAUndefined, cfi.CFASameValue, cfi.CFADefCFARegister:
		return registerOperand
	case cfi.CFARegister:
		return twoRegisters
	case cfi.CFAOffset, cfi.CFAOffsetExtended, cfi.CFAOffsetExtendedSF, cfi.CFAValOffset, cfi.CFAValOffsetSF,
		cfi.CFADefCFA, cfi.CFADefCFASF, cfi.CFAGNUNegativeOffsetExtended:
		return registerAndNumber
	case cfi.CFADefCFAExpression:
		return expressionOperand
	case cfi.CFAExpression, cfi.CFAValExpression:
		return registerAndExpression
	case cfi.CFALLVMDefAspaceCFA, cfi.CFALLVMDefAspaceCFASF:
		return registerNumberSpace
	}
	return noOperands
}

// advances reports whether an instruction ends the row.
func advances(op cfi.Opcode) bool {
	switch op {
	case cfi.CFASetLoc, cfi.CFAAdvanceLoc, cfi.CFAAdvanceLoc1, cfi.CFAAdvanceLoc2, cfi.CFAAdvanceLoc4, cfi.CFAMIPSAdvanceLoc8:
		return true
	}
	return false
}

// setsCFA reports whether an instruction changes the rule of the CFA alone.
func setsCFA(op cfi.Opcode) bool {
	switch op {
	case cfi.CFADefCFA, cfi.CFADefCFASF, cfi.CFADefCFARegister, cfi.CFADefCFAOffset, cfi.CFADefCFAOffsetSF,
		cfi.CFADefCFAExpression, cfi.CFALLVMDefAspaceCFA, cfi.CFALLVMDefAspaceCFASF:
		return true
	}
	return false
}

// setsRegister reports whether an instruction changes the rule of its Register.
func setsRegister(op cfi.Opcode) bool {
	switch operandsOf(op) {
	case registerOperand, twoRegisters, registerAndNumber, registerAndExpression:
		return !setsCFA(op)
	}
	return false
}

// AppendInstruction appends an instruction of a section with its operands as
// they are stored: "DW_CFA_offset rbx, 2".
func AppendInstruction(dst []byte, s *cfi.Section, ins *cfi.Instruction) []byte {
	dst = append(dst, ins.Op.Name(s.Machine)...)
	register := func(column uint64) {
		dst = s.Machine.AppendRegisterName(append(dst, ' '), column)
	}
	number := func() {
		if unsigned(ins.Op) {
			dst = strconv.AppendUint(dst, uint64(ins.Operand), 10)
		} else {
			dst = strconv.AppendInt(dst, ins.Operand, 10)
		}
	}
	switch operandsOf(ins.Op) {
	case addressOperand:
		dst = appendHex(append(dst, ' '), uint64(ins.Operand))
	case numberOperand:
		dst = append(dst, ' ')
		number()
	case registerOperand:
		register(ins.Register)
	case twoRegisters:
		register(ins.Register)
		dst = append(dst, ',')
		register(ins.Register2)
	case registerAndNumber:
		register(ins.Register)
		dst = append(dst, ", "...)
		number()
	case registerNumberSpace:
		register(ins.Register)
		dst = append(dst, ", "...)
		number()
		dst = append(dst, ", space "...)
		dst = strconv.AppendUint(dst, ins.Register2, 10)
	case expressionOperand:
		dst = appendOperations(append(dst, ' '), s, expressionOffset(ins), uint64(len(ins.Expression)))
	case registerAndExpression:
		register(ins.Register)
		dst = appendOperations(append(dst, ", "...), s, expressionOffset(ins), uint64(len(ins.Expression)))
	}
	return dst
}

// expressionOffset returns where an instruction's expression stands in the
// section: at its end.
func expressionOffset(ins *cfi.Instruction) uint64 {
	return ins.Offset + ins.Size - uint64(len(ins.Expression))
}

// unsigned reports whether an operand holds the bits of an unsigned number.
func unsigned(op cfi.Opcode) bool {
	switch op {
	case cfi.CFADefCFASF, cfi.CFADefCFAOffsetSF, cfi.CFAOffsetExtendedSF, cfi.CFAValOffsetSF, cfi.CFALLVMDefAspaceCFASF:
		return false
	}
	return true
}

// appendEffect appends what an instruction has done to the row: the address it
// led to, or the rule that it set. x has executed it.
func (n *notation) appendEffect(dst []byte, x *cfi.Interpreter, ins *cfi.Instruction) []byte {
	row := x.Row()
	switch {
	case advances(ins.Op):
		return appendHex(append(dst, "at "...), x.Location())
	case setsCFA(ins.Op), ins.Op == cfi.CFARestoreState:
		return n.appendCFA(append(dst, "CFA = "...), row.CFA)
	case setsRegister(ins.Op):
		dst = n.section.Machine.AppendRegisterName(dst, ins.Register)
		rule := row.Register(ins.Register)
		if rule.Kind == cfi.Unspecified {
			return append(dst, ": no rule"...)
		}
		return n.appendRule(append(dst, " = "...), rule)
	}
	return dst
}
