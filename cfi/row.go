// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import "fmt"

// RuleKind is how the value of a register in the calling frame, or the CFA,
// is found (DWARF 5 §6.4.1).
type RuleKind uint8

const (
	// Unspecified: the table says nothing. Compilers leave it so for registers
	// that the function does not touch; the ABI decides what that means.
	Unspecified RuleKind = iota
	// Undefined: the value is lost. In the return address column: this frame
	// is the outermost.
	Undefined
	// SameValue: the register was not changed.
	SameValue
	// Offset: saved at the address CFA+Offset.
	Offset
	// ValOffset: the value is CFA+Offset.
	ValOffset
	// Register: the value is in another register; of the CFA: it is that
	// register's value + Offset.
	Register
	// Expression: saved at the address that a DWARF expression yields.
	Expression
	// ValExpression: the value is what a DWARF expression yields.
	ValExpression
)

var ruleKinds = [...]string{"unspecified", "undefined", "same value", "offset", "value offset",
	"register", "expression", "value expression"}

// String names the kind in one or two words: "same value".
func (k RuleKind) String() string {
	if int(k) < len(ruleKinds) {
		return ruleKinds[k]
	}
	return fmt.Sprintf("RuleKind(%d)", uint8(k))
}

// Rule is how one value is found. Rules are comparable, within one section.
type Rule struct {
	Kind RuleKind
	// Register is the column for kind Register. For the kinds with an
	// expression it is the expression's length, and Offset where it starts in
	// the section: Row.Expression returns its bytes.
	Register uint32
	Offset   int64 // bytes, no longer factored
}

// RegisterRule is the rule of one column.
type RegisterRule struct {
	Column uint32
	Rule
}

// Row is one row of an unwind table: the rules that hold at the addresses [Start, End).
type Row struct {
	Start, End uint64 // addresses without load bias

	// CFA has kind Register, ValExpression, or Unspecified where the table
	// does not define it.
	CFA Rule

	// Registers are the rules of the columns that have one, by ascending column.
	Registers []RegisterRule

	// ArgumentsSize is how many bytes of arguments the function has pushed
	// (DW_CFA_GNU_args_size); landing pads need it, the walk does not.
	ArgumentsSize uint64

	// Signed says that the return address is signed (AArch64 pointer authentication).
	Signed bool

	section *Section
}

// Register returns the rule of a column.
func (r *Row) Register(column uint64) Rule {
	for i := range r.Registers {
		if uint64(r.Registers[i].Column) == column {
			return r.Registers[i].Rule
		}
	}
	return Rule{}
}

// Expression returns the bytes of a rule's expression, which alias the section,
// and nil for a rule without one.
func (r *Row) Expression(rule Rule) []byte {
	return r.section.Expression(rule)
}

// Expression returns the bytes of the expression of a rule from one of the
// section's rows, and nil for a rule without one.
func (s *Section) Expression(rule Rule) []byte {
	if rule.Kind != Expression && rule.Kind != ValExpression {
		return nil
	}
	end := rule.Offset + int64(rule.Register)
	return s.Data[rule.Offset:end:end]
}
