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

// row prints one row. Nearly all time goes by here: what is common is written
// in words of eight bytes, of which those behind the text are spaces and
// overwritten by what follows.
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
		// The length of the digits is where the last blank belongs.
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

// Cells, and eight spaces.
var (
	cellU    = word("u")
	cellS    = word("s")
	cellExp  = word("exp")
	cellVexp = word("vexp")
	blanks   = word("")
)

// word returns the text, of at most eight bytes, and the spaces behind it as
// the bytes of a number.
func word(text string) uint64 {
	return binary.LittleEndian.Uint64(appendPadding([]byte(text), 0, 8))
}

// maxSmall bounds the offsets whose text is kept ready: with a letter and a
// space they fill a cell of six bytes.
const maxSmall = 999

// small is the sign and digits of an offset, padded with spaces to seven bytes,
// and in the eighth their number. newPrinter fills it, as filling it at the
// start would delay every other use of the command.
var small [2*maxSmall + 1]uint64

var fillSmall = sync.OnceFunc(func() {
	for i := range small {
		b := appendSigned(nil, int64(i)-maxSmall)
		small[i] = word(string(b))<<8>>8 | uint64(len(b))<<56
	}
})

// appendCFA appends the CFA's cell, whatever it is.
func (p *printer) appendCFA(dst []byte, cfa cfi.Rule) []byte {
	from := len(dst)
	if cfa.Kind == cfi.ValExpression {
		dst = append(dst, "exp"...)
	} else {
		// Without a rule readelf shows the first column.
		dst = p.names.appendShort(dst, uint64(cfa.Register))
		dst = appendSigned(dst, int64(int32(cfa.Offset)))
	}
	return append(appendPadding(dst, from, 8), ' ')
}

// appendWideCell appends the cell of a rule that names a register or has a
// large offset.
func (p *printer) appendWideCell(dst []byte, letter byte, rule *cfi.Rule) []byte {
	from := len(dst)
	if rule.Kind == cfi.Register {
		dst = p.names.appendLong(dst, uint64(rule.Register))
	} else {
		dst = appendSigned(append(dst, letter), rule.Offset)
	}
	return append(appendPadding(dst, from, 5), ' ')
}
