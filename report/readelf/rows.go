// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import "github.com/clewdev/clew/cfi"

// rowState is what the printing of rows keeps between the entries of a section.
type rowState struct {
	x   cfi.Interpreter
	ins cfi.Instruction

	cie            *cfi.CIE // whose columns initial holds
	initial        columns
	initialProgram program

	columns columns
	f       cfi.FDE // a CIE in the guise of an FDE
}

// cieRows prints the row that the instructions of a CIE make.
func (p *printer) cieRows(cie *cfi.CIE) error {
	t := &p.table
	t.f = cfi.FDE{CIE: cie}
	t.x.Start(&t.f)
	if err := t.x.Err(); err != nil {
		return err
	}
	p.useCIE(cie)
	if t.initialProgram.nop {
		return nil
	}
	t.columns.copyFrom(&t.initial)
	p.columnHeader(cie)
	p.row(0, t.x.Row(), int(cie.AddressSize))
	return nil
}

// useCIE finds out which columns the instructions of a CIE name.
func (p *printer) useCIE(cie *cfi.CIE) {
	t := &p.table
	if t.cie == cie {
		return
	}
	t.cie = cie
	t.initial.reset()
	t.f = cfi.FDE{CIE: cie, Instructions: cie.Instructions, InstructionsOffset: cie.InstructionsOffset}
	t.initialProgram = t.initial.scan(&t.f, &t.ins)
}

// fdeRows prints the rows of an FDE.
func (p *printer) fdeRows(f *cfi.FDE) error {
	t := &p.table
	// Start comes first: it refuses a CIE that would be dear to scan anew.
	t.x.Start(f)
	if err := t.x.Err(); err != nil {
		return err
	}
	p.useCIE(f.CIE)
	t.columns.copyFrom(&t.initial)
	program := t.columns.scan(f, &t.ins)
	if program.nop {
		return nil
	}
	p.columnHeader(f.CIE)
	if program.plain && f.CIE.CodeAlign-1 < 1<<16 && program.advance < 1<<32 && program.advance*f.CIE.CodeAlign < f.End-f.Start {
		// Every row covers an address, and so does what is left at the end.
		size := int(f.CIE.AddressSize)
		for row := range t.x.Rows(f) {
			p.row(row.Start, row, size)
		}
		if t.x.Err() == nil {
			return nil
		}
		p.row(t.x.Row().End, t.x.Row(), size)
		return t.x.Err()
	}
	return p.step(f)
}

// step prints the rows of an FDE of which some cover no address: every
// instruction that moves the location ends a row, even where it moves it by
// nothing, and so does the end of the instructions.
func (p *printer) step(f *cfi.FDE) error {
	t := &p.table
	size := int(f.CIE.AddressSize)
	d := f.Decode()
	for d.Next(&t.ins) {
		switch t.ins.Op.Effect() {
		case cfi.EffectWindow: // readelf's rows do not show windows
			continue
		case cfi.EffectLocation:
			p.row(t.x.Location(), t.x.Row(), size)
		}
		if !t.x.Execute(f.CIE, &t.ins) {
			break
		}
	}
	p.row(t.x.Location(), t.x.Row(), size)
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
