// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
)

// AppendInstruction appends an instruction of a section with its operands as
// they are stored: "DW_CFA_offset rbx, 2".
func AppendInstruction(dst []byte, s *cfi.Section, ins *cfi.Instruction) []byte {
	dst = append(dst, ins.Op.Name(s.Machine)...)
	has := ins.Op.Operands()
	separator := " "
	next := func() {
		dst = append(dst, separator...)
		separator = ", "
	}
	if has&cfi.OperandRegister != 0 {
		next()
		dst = s.Machine.AppendRegisterName(dst, ins.Register)
	}
	switch {
	case has&cfi.OperandAddress != 0:
		next()
		dst = style.AppendHex(dst, uint64(ins.Operand))
	case has&cfi.OperandSigned != 0:
		next()
		dst = strconv.AppendInt(dst, ins.Operand, 10)
	case has&(cfi.OperandUnsigned|cfi.OperandDelta) != 0:
		next()
		dst = strconv.AppendUint(dst, uint64(ins.Operand), 10)
	}
	switch {
	case has&cfi.OperandRegister2 != 0:
		next()
		dst = s.Machine.AppendRegisterName(dst, ins.Register2)
	case has&cfi.OperandSpace != 0:
		next()
		dst = strconv.AppendUint(append(dst, "space "...), ins.Register2, 10)
	case has&cfi.OperandExpression != 0:
		next()
		dst = appendOperations(dst, s, expressionOffset(ins), uint64(len(ins.Expression)))
	}
	return dst
}

// expressionOffset returns where an instruction's expression stands in the
// section: at its end.
func expressionOffset(ins *cfi.Instruction) uint64 {
	return ins.Offset + ins.Size - uint64(len(ins.Expression))
}

// appendEffect appends what an instruction has done to the row: the address it
// led to, or the rule that it set. x has executed it.
func (n *notation) appendEffect(dst []byte, x *cfi.Interpreter, ins *cfi.Instruction) []byte {
	row := x.Row()
	switch ins.Op.Effect() {
	case cfi.EffectLocation:
		return style.AppendHex(append(dst, "at "...), x.Location())
	case cfi.EffectCFA, cfi.EffectRestore:
		return n.appendCFA(append(dst, "CFA = "...), row.CFA)
	case cfi.EffectRegister:
		dst = n.section.Machine.AppendRegisterName(dst, ins.Register)
		rule := row.Register(ins.Register)
		if rule.Kind == cfi.Unspecified {
			return append(dst, ": no rule"...)
		}
		return n.appendRule(append(dst, " = "...), rule)
	}
	return dst
}
