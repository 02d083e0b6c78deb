// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
)

// notation writes rules for tables. Square brackets mean memory, as in assembly: [c-16] is the
// value at CFA-16.
type notation struct {
	section *cfi.Section
	infix   infix
}

// noRule is the cell of a register without a rule.
const noRule = "."

// appendCFA appends the rule of the CFA: "rsp+16", "[rbp-16]".
func (n *notation) appendCFA(dst []byte, r cfi.Rule) []byte {
	switch r.Kind {
	case cfi.Register:
		dst = n.section.Machine.AppendRegisterName(dst, uint64(r.Register))
		return appendOffset(dst, r.Offset)
	case cfi.ValExpression:
		return n.appendExpression(dst, r, "")
	}
	return append(dst, "none"...)
}

// appendRule appends the rule of a register: "[c-16]" for a saved value, "c-16" for this value,
// "rdx" for the value of another register, "same", "undef".
func (n *notation) appendRule(dst []byte, r cfi.Rule) []byte {
	switch r.Kind {
	case cfi.Undefined:
		return append(dst, "undef"...)
	case cfi.SameValue:
		return append(dst, "same"...)
	case cfi.Offset:
		dst = appendOffset(append(dst, "[c"...), r.Offset)
		return append(dst, ']')
	case cfi.ValOffset:
		return appendOffset(append(dst, 'c'), r.Offset)
	case cfi.Register:
		return n.section.Machine.AppendRegisterName(dst, uint64(r.Register))
	case cfi.Expression:
		dst = append(dst, '[')
		dst = n.appendExpression(dst, r, "c")
		return append(dst, ']')
	case cfi.ValExpression:
		return n.appendExpression(dst, r, "c")
	}
	return append(dst, noRule...)
}

// maxInfix is the largest width of an expression in a cell of a table.
const maxInfix = 40

// expressionMark starts the place of an expression in a cell.
const expressionMark = "expr@"

// appendExpression appends the formula of an expression, or its place if the formula would be
// too long. cfa is as in infix.append.
func (n *notation) appendExpression(dst []byte, r cfi.Rule, cfa string) []byte {
	start := len(dst)
	dst, ok := n.infix.append(dst, n.section, r, cfa)
	if ok && len(dst)-start <= maxInfix {
		return dst
	}
	return style.AppendHex(append(dst[:start], expressionMark...), uint64(r.Offset))
}

// appendOffset appends an offset with a sign, and nothing for 0.
func appendOffset(dst []byte, v int64) []byte {
	if v == 0 {
		return dst
	}
	if v > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, v, 10)
}

// ruleNames are the values of "rule" in the JSON forms.
var ruleNames = [...]string{
	cfi.Unspecified: "unspecified", cfi.Undefined: "undefined", cfi.SameValue: "same_value",
	cfi.Offset: "offset", cfi.ValOffset: "val_offset", cfi.Register: "register",
	cfi.Expression: "expression", cfi.ValExpression: "val_expression",
}

// AppendInstruction appends an instruction of a section with its stored operands:
// "DW_CFA_offset rbx, 2".
func AppendInstruction(dst []byte, s *cfi.Section, ins *cfi.Instruction) []byte {
	dst = append(dst, ins.Op.Name(s.Machine)...)
	operands := ins.Op.Operands()
	separator := " "
	next := func() {
		dst = append(dst, separator...)
		separator = ", "
	}
	if operands&cfi.OperandRegister != 0 {
		next()
		dst = s.Machine.AppendRegisterName(dst, ins.Register)
	}
	switch {
	case operands&cfi.OperandAddress != 0:
		next()
		dst = style.AppendHex(dst, uint64(ins.Operand))
	case operands&cfi.OperandSigned != 0:
		next()
		dst = strconv.AppendInt(dst, ins.Operand, 10)
	case operands&(cfi.OperandUnsigned|cfi.OperandDelta) != 0:
		next()
		dst = strconv.AppendUint(dst, uint64(ins.Operand), 10)
	}
	switch {
	case operands&cfi.OperandRegister2 != 0:
		next()
		dst = s.Machine.AppendRegisterName(dst, ins.Register2)
	case operands&cfi.OperandSpace != 0:
		next()
		dst = strconv.AppendUint(append(dst, "space "...), ins.Register2, 10)
	case operands&cfi.OperandExpression != 0:
		next()
		dst = appendOperations(dst, s, expressionOffset(ins), uint64(len(ins.Expression)))
	}
	return dst
}

// expressionOffset returns the offset in the section of an instruction's expression, which
// ends the instruction.
func expressionOffset(ins *cfi.Instruction) uint64 {
	return ins.Offset + ins.Size - uint64(len(ins.Expression))
}

// appendEffect appends the effect of an instruction that x has just executed: the new address,
// or the rule that it set.
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
