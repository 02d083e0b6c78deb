// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/clewdev/clew/cfi"
)

// rowState is reused for the rows of all entries of a section.
type rowState struct {
	x   cfi.Interpreter
	ins cfi.Instruction

	cie            *cfi.CIE
	initial        columns // of cie
	initialProgram program // of cie

	columns columns
	f       cfi.FDE // a CIE in the form of an FDE
}

// cieRows prints the row of a CIE.
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

// useCIE sets the CIE and scans its instructions.
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
	// Start comes first, because it rejects CIEs that are expensive to scan repeatedly.
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
		// Every row covers an address, and so does the rest of the function after the last one.
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

// step prints the rows of an FDE in which rows can be empty. Every change of the location ends
// a row, even a change by zero, and so does the end of the instructions.
func (p *printer) step(f *cfi.FDE) error {
	t := &p.table
	size := int(f.CIE.AddressSize)
	d := f.Decode()
	for d.Next(&t.ins) {
		switch t.ins.Op.Effect() {
		case cfi.EffectWindow: // readelf's rows ignore windows
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

// columnHeader prints the line above the rows of an entry.
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

// row prints one row. It takes nearly all the time of the package, so it writes common cells as
// words of eight bytes. The bytes of a word after the text are spaces, and the next cell
// overwrites them.
func (p *printer) row(location uint64, row *cfi.Row, size int) {
	columns := p.table.columns.list()
	n := len(p.buf)
	if n >= bufferSize || cap(p.buf)-n < 64+8*len(columns) {
		p.reserve()
		p.buf = slices.Grow(p.buf, 64+8*len(columns))
		n = len(p.buf)
	}
	b := p.buf[:cap(p.buf)]

	if size == 8 {
		if high := uint32(location >> 32); high != p.high {
			p.high, p.highDigits = high, hexDigits(high)
		}
		w := b[n : n+17]
		binary.LittleEndian.PutUint64(w, p.highDigits)
		binary.LittleEndian.PutUint64(w[8:], hexDigits(uint32(location)))
		w[16] = ' '
		n += 17
	} else {
		n = len(append(appendHex(b[:n], location, size), ' '))
	}

	if cfa := row.CFA; cfa.Kind == cfi.Register && uint64(cfa.Register) < uint64(len(p.names.word)) &&
		p.names.word[cfa.Register] != 0 && uint64(cfa.Offset+maxSmall) < uint64(len(small)) {
		name := p.names.word[cfa.Register]
		digits := small[cfa.Offset+maxSmall]
		w := b[n : n+24]
		binary.LittleEndian.PutUint64(w, name)
		at := int(p.names.length[cfa.Register])
		binary.LittleEndian.PutUint64(w[at:], digits)
		binary.LittleEndian.PutUint64(w[at+8:], blanks)
		n += max(9, at+int(digits>>56)+1)
		// The last byte of the word is the length of the digits; replace it.
		w[at+7] = ' '
	} else {
		b = slices.Grow(p.appendCFA(b[:n], cfa), 16+8*len(columns))
		n = len(b)
		b = b[:cap(b)]
	}

	rules := row.Registers
	for k, column := range columns {
		for len(rules) > 0 && rules[0].Column < column {
			rules = rules[1:]
		}
		word := cellU
		if len(rules) > 0 && rules[0].Column == column {
			switch rule := &rules[0].Rule; rule.Kind {
			case cfi.Unspecified, cfi.Undefined:
			case cfi.SameValue:
				word = cellS
			case cfi.Expression:
				word = cellExp
			case cfi.ValExpression:
				word = cellVexp
			default:
				letter := uint64('c')
				if rule.Kind == cfi.ValOffset {
					letter = 'v'
				}
				if i := uint64(rule.Offset + maxSmall); rule.Kind != cfi.Register && i < uint64(len(small)) {
					word = letter | small[i]<<8
					break
				}
				b = slices.Grow(p.appendWideCell(b[:n], byte(letter), rule), 16+8*(len(columns)-k))
				n = len(b)
				b = b[:cap(b)]
				continue
			}
		}
		binary.LittleEndian.PutUint64(b[n:], word)
		n += 6
	}
	b[n] = '\n'
	p.buf = b[:n+1]
}

// Cells as words.
var (
	cellU    = word("u")
	cellS    = word("s")
	cellExp  = word("exp")
	cellVexp = word("vexp")
	blanks   = word("")
)

// word returns a text of at most eight bytes, padded with spaces, as the bytes of a number.
func word(text string) uint64 {
	return binary.LittleEndian.Uint64(appendPadding([]byte(text), 0, 8))
}

// maxSmall is the largest offset with a cached text. With a letter, a sign and a space it
// fills a cell of six bytes.
const maxSmall = 999

// small has the sign and digits of offsets, padded with spaces to seven bytes, and their length
// in the eighth. newPrinter fills it, because filling it at the start of the program would
// delay every command.
var small [2*maxSmall + 1]uint64

var fillSmall = sync.OnceFunc(func() {
	for i := range small {
		b := appendSigned(nil, int64(i)-maxSmall)
		small[i] = word(string(b))<<8>>8 | uint64(len(b))<<56
	}
})

// appendCFA appends the cell of any CFA.
func (p *printer) appendCFA(dst []byte, cfa cfi.Rule) []byte {
	from := len(dst)
	if cfa.Kind == cfi.ValExpression {
		dst = append(dst, "exp"...)
	} else {
		// Without a rule, readelf prints the first column.
		dst = p.names.appendShort(dst, uint64(cfa.Register))
		dst = appendSigned(dst, int64(int32(cfa.Offset)))
	}
	return append(appendPadding(dst, from, 8), ' ')
}

// appendWideCell appends the cell of a rule with a register or a large offset.
func (p *printer) appendWideCell(dst []byte, letter byte, rule *cfi.Rule) []byte {
	from := len(dst)
	if rule.Kind == cfi.Register {
		dst = p.names.appendLong(dst, uint64(rule.Register))
	} else {
		dst = appendSigned(append(dst, letter), rule.Offset)
	}
	return append(appendPadding(dst, from, 5), ' ')
}
