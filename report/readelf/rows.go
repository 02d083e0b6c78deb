// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// rowState is what the printing of rows keeps between the entries of a section.
type rowState struct {
	x   cfi.Interpreter
	ins cfi.Instruction

	cie        *cfi.CIE // whose columns initial holds
	initial    columns
	initialNop bool // the CIE holds nothing but DW_CFA_nop

	columns columns
	f       cfi.FDE // stands for the empty function by which a CIE is shown

	// The cells of the row before, and whether they still hold.
	cells []byte
	stale bool
}

// rows prints the rows of an FDE, or, with an FDE without instructions, those
// of its CIE. Every instruction that moves the location ends a row, even where
// it moves it by nothing.
func (p *printer) rows(f *cfi.FDE, isCIE bool) error {
	t := &p.table
	// Start comes first: it refuses a CIE that would be dear to scan anew.
	t.x.Start(f)
	if err := t.x.Err(); err != nil {
		return err
	}
	if t.cie != f.CIE {
		t.cie = f.CIE
		t.initial.reset()
		t.initialNop = t.initial.scan(f.CIE.Decode(), &t.ins)
	}
	t.columns.copyFrom(&t.initial)
	nop := t.initialNop
	if !isCIE {
		nop = t.columns.scan(f.Decode(), &t.ins)
	}
	if nop {
		return nil
	}
	p.columnHeader(f.CIE)
	t.stale = true
	size := int(f.CIE.AddressSize)
	d := f.Decode()
	for d.Next(&t.ins) {
		switch t.ins.Op {
		case cfi.CFANop, cfi.CFAGNUWindowSave: // readelf's rows do not show windows
			continue
		case cfi.CFAAdvanceLoc, cfi.CFAAdvanceLoc1, cfi.CFAAdvanceLoc2, cfi.CFAAdvanceLoc4, cfi.CFAMIPSAdvanceLoc8, cfi.CFASetLoc:
			p.row(t.x.Location(), size)
		case cfi.CFADefCFA, cfi.CFADefCFAOffset, cfi.CFADefCFARegister:
		default:
			t.stale = true
		}
		if !t.x.Execute(f.CIE, &t.ins) {
			break
		}
	}
	p.row(t.x.Location(), size)
	if err := t.x.Err(); err != nil {
		return err
	}
	return d.Err()
}

// columnHeader prints the line over the rows of an entry.
func (p *printer) columnHeader(cie *cfi.CIE) {
	dst := p.buf
	from := len(dst)
	dst = appendPadding(append(dst, "   LOC"...), from, 2*int(cie.AddressSize))
	dst = append(dst, " CFA      "...)
	for _, column := range p.table.columns.list() {
		from = len(dst)
		if uint64(column) == cie.ReturnAddress {
			dst = append(dst, "ra"...)
		} else {
			dst = p.names.appendShort(dst, uint64(column))
		}
		dst = append(appendPadding(dst, from, 5), ' ')
	}
	p.buf = append(dst, '\n')
}

// row prints the interpreter's row as it is now.
func (p *printer) row(location uint64, size int) {
	p.reserve()
	t := &p.table
	row := t.x.Row()
	dst := append(appendHex(p.buf, location, size), ' ')
	from := len(dst)
	switch row.CFA.Kind {
	case cfi.ValExpression:
		dst = append(dst, "exp"...)
	default:
		// Without a rule readelf shows the first column.
		dst = p.names.appendShort(dst, uint64(row.CFA.Register))
		dst = appendSigned(dst, int64(int32(row.CFA.Offset)))
	}
	dst = append(appendPadding(dst, from, 8), ' ')
	if t.stale {
		from = len(dst)
		dst = p.appendCells(dst, row.Registers)
		t.cells = append(t.cells[:0], dst[from:]...)
		t.stale = false
	} else {
		dst = append(dst, t.cells...)
	}
	p.buf = append(dst, '\n')
}

// appendCells appends the rule of each column of the header.
func (p *printer) appendCells(dst []byte, rules []cfi.RegisterRule) []byte {
	for _, column := range p.table.columns.list() {
		for len(rules) > 0 && rules[0].Column < column {
			rules = rules[1:]
		}
		rule := cfi.Rule{}
		if len(rules) > 0 && rules[0].Column == column {
			rule = rules[0].Rule
		}
		from := len(dst)
		switch rule.Kind {
		case cfi.Unspecified, cfi.Undefined:
			dst = append(dst, "u     "...)
		case cfi.SameValue:
			dst = append(dst, "s     "...)
		case cfi.Offset:
			dst = appendCell(dst, 'c', rule.Offset)
		case cfi.ValOffset:
			dst = appendCell(dst, 'v', rule.Offset)
		case cfi.Expression:
			dst = append(dst, "exp   "...)
		case cfi.ValExpression:
			dst = append(dst, "vexp  "...)
		case cfi.Register:
			dst = p.names.appendLong(dst, uint64(rule.Register))
			dst = append(appendPadding(dst, from, 5), ' ')
		default:
			panic(fmt.Sprintf("rule of kind %v", rule.Kind))
		}
	}
	return dst
}
