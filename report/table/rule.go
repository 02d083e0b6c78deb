// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"bytes"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
)

// notation writes rules as the tables show them. Square brackets are memory,
// as in assembly: [c-16] is what lies at CFA-16.
type notation struct {
	section *cfi.Section
	infix   infix
}

// noRule is the cell of a register that the row says nothing of.
const noRule = "."

// appendCFA appends how the CFA is found: "rsp+16", "[rbp-16]".
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

// appendRule appends how the value of a register is found: "[c-16]" saved
// there, "c-16" is that value, "rdx" in another register, "same", "undef".
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

// maxInfix is how wide an expression may be in a cell of a table.
const maxInfix = 40

// appendExpression appends the formula of an expression, or where its
// operations stand when a formula would not make it clearer. cfa is as for a formula.
func (n *notation) appendExpression(dst []byte, r cfi.Rule, cfa string) []byte {
	start := len(dst)
	dst, ok := n.infix.append(dst, n.section, r, cfa)
	if ok && len(dst)-start <= maxInfix {
		return dst
	}
	dst = append(dst[:start], "expr@"...)
	return style.AppendHex(dst, uint64(r.Offset))
}

// unclear reports whether a cell gives a place instead of a formula.
func unclear(cell []byte) bool { return bytes.Contains(cell, []byte("expr@")) }

// appendOffset appends what is added to a register: nothing, "+16", "-16".
func appendOffset(dst []byte, v int64) []byte {
	if v == 0 {
		return dst
	}
	return appendSigned(dst, v)
}

func appendSigned(dst []byte, v int64) []byte {
	if v >= 0 {
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
