// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// RuleKind is a way to compute the value of a register in the calling frame, or the CFA
// (DWARF 5 §6.4.1).
type RuleKind uint8

const (
	// Unspecified: the table has no rule, as for registers that the function does not
	// use. The ABI determines the value.
	Unspecified RuleKind = iota
	// Undefined: the value is lost. In the return address column: this frame is the
	// outermost.
	Undefined
	SameValue // the register was not changed
	Offset    // saved at the address CFA+Offset
	ValOffset // the value is CFA+Offset
	// Register: the value is in another register. For the CFA: that register's value plus
	// Offset.
	Register
	Expression    // saved at the address that is the result of a DWARF expression
	ValExpression // the value is the result of a DWARF expression
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

// Rule describes how to compute one value. Rules of one section are comparable.
type Rule struct {
	Kind RuleKind
	// Register is the column for kind Register. For the kinds with an expression it is the
	// size of the expression in bytes, and Offset is its offset in the section:
	// [Row.Expression] returns the expression.
	Register uint32
	Offset   int64 // in bytes, not factored
}

// RegisterRule is the rule of one column.
type RegisterRule struct {
	Column uint32
	Rule
}

// Row is one row of an unwind table: the rules for the addresses [Start, End).
type Row struct {
	Start, End uint64 // addresses without load bias

	// CFA has kind Register, ValExpression, or Unspecified if the table does not define it.
	CFA Rule

	// Registers are the rules of the columns that have one, by ascending column.
	Registers []RegisterRule

	// ArgumentsSize is the number of bytes of arguments that the function has pushed
	// (DW_CFA_GNU_args_size). Landing pads need it, the walk does not.
	ArgumentsSize uint64

	Signed bool // the return address is signed (AArch64 pointer authentication)

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

// Expression returns the expression of a rule, which aliases the section, or nil if the rule
// has no expression.
func (r *Row) Expression(rule Rule) []byte { return r.section.Expression(rule) }

// Expression returns the expression of a rule of one of the section's rows, which aliases the
// section, or nil if the rule has no expression.
func (s *Section) Expression(rule Rule) []byte {
	if rule.Kind != Expression && rule.Kind != ValExpression {
		return nil
	}
	end := rule.Offset + int64(rule.Register)
	return s.Data[rule.Offset:end:end]
}

// Rows yields the rows of an FDE in order of their addresses, without rows that cover no
// address. The interpreter owns the row, and the next iteration changes it. Rows stops at a
// malformed instruction: see Err.
func (x *Interpreter) Rows(f *FDE) iter.Seq[*Row] {
	return func(yield func(*Row) bool) { x.rows(f, yield) }
}

func (x *Interpreter) rows(f *FDE, yield func(*Row) bool) {
	x.Start(f)
	x.run(yield)
}

// RowAt returns the row of an FDE for an address (without load bias). The row is valid until
// the next use of the interpreter. The error wraps ErrNoFDE if the FDE does not cover the
// address.
func (x *Interpreter) RowAt(f *FDE, pc uint64) (*Row, error) {
	if pc < f.Start || pc >= f.End {
		return nil, fmt.Errorf("%w at %#x: the one at %#x covers [%#x, %#x)", ErrNoFDE, pc, f.Offset, f.Start, f.End)
	}
	x.Start(f)
	// The row before a malformed instruction is valid, up to the end of the FDE.
	if x.run(func(r *Row) bool { return r.End <= pc }); pc < x.row.Start || pc >= x.row.End {
		return nil, x.c.Err
	}
	return &x.row, nil
}

// run executes the FDE's own instructions and yields the rows that cover addresses.
func (x *Interpreter) run(yield func(*Row) bool) {
	f := x.fde
	if f == nil || x.c.Err != nil {
		return
	}
	row, d, end := &x.row, x.c.s.Data, x.c.End
	code, data := f.CIE.CodeAlign, f.CIE.DataAlign
	start := f.Start
	for i := x.c.Off; i < end; {
		// The most common instructions are decoded here, from a word of four bytes. The
		// default case decodes the others, and the last instructions, which are shorter
		// than a word.
		var w uint32
		if left := end - i; left >= 4 {
			w = binary.LittleEndian.Uint32(d[i:])
		} else if w = general; isPadding(d[i:end]) {
			break
		}
		var delta uint64
		switch b := byte(w); {
		case b == byte(CFADefCFAOffset) && w&0x8000 == 0 && row.CFA.Kind == Register:
			row.CFA.Offset = int64(w >> 8 & 0x7f)
			if w>>16&0xc0 != uint32(CFAAdvanceLoc) {
				i += 2
				continue
			}
			// Most rows of code without a frame pointer end here.
			delta = uint64(w>>16&0x3f) * code
			i += 3
		case b&0xc0 == byte(CFAAdvanceLoc):
			delta = uint64(b&0x3f) * code
			i++
		case b&0xc0 == byte(CFAOffset) && w&0x8000 == 0 && len(row.Registers) < maxColumns:
			column, rule := uint32(b&0x3f), Rule{Kind: Offset, Offset: int64(w>>8&0x7f) * data}
			i += 2
			// Most often the column is inserted directly before the return address.
			if n := len(row.Registers); n > 0 && n < cap(row.Registers) && row.Registers[n-1].Column > column &&
				(n == 1 || row.Registers[n-2].Column < column) {
				row.Registers = row.Registers[:n+1]
				row.Registers[n] = row.Registers[n-1]
				row.Registers[n-1] = RegisterRule{column, rule}
				continue
			}
			x.set(uint64(column), rule)
			continue
		case b == byte(CFANop):
			if left := end - i; left <= 8 && i+8 <= uint64(len(d)) && binary.LittleEndian.Uint64(d[i:])<<(64-8*left) == 0 {
				i = end
				continue
			}
			i++
			continue
		case b == byte(CFADefCFAOffset) && w&0x800000 == 0 && row.CFA.Kind == Register:
			row.CFA.Offset = int64(w>>8&0x7f | w>>9&0x3f80)
			i += 3
			continue
		case b == byte(CFAAdvanceLoc1):
			delta = uint64(w>>8&0xff) * code
			i += 2
		case b == byte(CFAAdvanceLoc2) && !x.c.Big:
			delta = uint64(w>>8&0xffff) * code
			i += 3
		default:
			x.c.Off, x.next = i, start
			if x.c.instruction(f.CIE, f.Start, &x.ins); x.c.Err == nil {
				x.Execute(f.CIE, &x.ins)
			}
			if x.c.Err != nil {
				return
			}
			i, delta = x.c.Off, x.next-start
		}
		if delta-1 >= f.End-start {
			if delta == 0 {
				continue
			}
			// No look-up can reach such a row. Those before it are correct and were yielded.
			x.c.Off = i
			x.c.fail(ErrInstruction, "an advance by %#x from %#x, past the end of [%#x, %#x)", delta, start, f.Start, f.End)
			break
		}
		row.Start, row.End = start, start+delta
		if start += delta; !yield(row) {
			return
		}
	}
	if f.End > start {
		row.Start, row.End = start, f.End
		yield(row)
	}
}

// isPadding reports whether all of a few bytes are DW_CFA_nop.
func isPadding(b []byte) bool {
	var all byte
	for _, c := range b {
		all |= c
	}
	return all == byte(CFANop)
}

// general is a word that run does not decode itself.
const general = 0xffffffff
