// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact

import (
	"encoding/binary"
	"math"
)

// Place is a place in the source.
type Place struct {
	Function, File string
	Line           int
}

// Lines makes a table of source lines and inlined calls. The zero value is empty.
type Lines struct {
	Limit int // of the table, in bytes

	base    uint64
	ranges  []uint32 // starts and places, in turn
	places  []place
	numbers map[place]uint32
	strings map[string]uint32
	text    []byte
	end     uint64
	full    bool
}

// place is struct clew_place. The caller has a lower number.
type place struct{ function, file, line, caller uint32 }

// size returns the size of the table in bytes, at most.
func (l *Lines) size() int {
	const more = 128 // the head, paddings, and the end of the last range
	return more + 4*len(l.ranges) + 16*len(l.places) + len(l.text)
}

// Add appends the range [start, end), which must begin at or above the end of the last one.
// The innermost inlined call is first. Add returns false if the table is full: this range and
// later ones are left out.
func (l *Lines) Add(start, end uint64, chain []Place) bool {
	if l.full {
		return false
	}
	before := *l
	l.add(start, end, chain)
	if l.size() > l.Limit {
		*l = before // numbers and strings are not needed any more
		l.full = true
	}
	return !l.full
}

func (l *Lines) add(start, end uint64, chain []Place) {
	if l.numbers == nil {
		l.base, l.end = start, start
		l.numbers, l.strings = make(map[place]uint32), map[string]uint32{"": 0}
		l.places, l.text = make([]place, 1), make([]byte, 1)
	}
	if start < l.end || start >= end || end-l.base > math.MaxUint32 || len(l.text) > math.MaxInt32 {
		return
	}
	number := uint32(0)
	for i := len(chain) - 1; i >= 0; i-- {
		c := &chain[i]
		p := place{l.textOffset(c.Function), l.textOffset(c.File), uint32(max(c.Line, 0)), number}
		n, ok := l.numbers[p]
		if !ok {
			n = uint32(len(l.places))
			l.places = append(l.places, p)
			l.numbers[p] = n
		}
		number = n
	}
	if start > l.end {
		l.start(l.end, 0)
	}
	l.start(start, number)
	l.end = end
}

func (l *Lines) start(at uint64, place uint32) {
	if n := len(l.ranges); n > 0 && l.ranges[n-1] == place {
		return
	}
	l.ranges = append(l.ranges, uint32(at-l.base), place)
}

// textOffset returns the offset of a string, which ends with a 0.
func (l *Lines) textOffset(s string) uint32 {
	n, ok := l.strings[s]
	if !ok {
		n = uint32(len(l.text))
		l.text = append(append(l.text, s...), 0)
		l.strings[s] = n
	}
	return n
}

// Table returns the table, nil if it is empty.
func (l *Lines) Table() []byte {
	if len(l.ranges) == 0 {
		return nil
	}
	l.start(l.end, 0)
	le := binary.LittleEndian
	t := newTable(magicLines, l.base, 3)
	t.array(len(l.ranges)/2, 8, func(b []byte) []byte {
		for _, n := range l.ranges {
			b = le.AppendUint32(b, n)
		}
		return b
	})
	t.array(len(l.places), 16, func(b []byte) []byte {
		for _, p := range l.places {
			for _, n := range []uint32{p.function, p.file, p.line, p.caller} {
				b = le.AppendUint32(b, n)
			}
		}
		return b
	})
	t.array(len(l.text), 1, func(b []byte) []byte { return append(b, l.text...) })
	return t.finish()
}
