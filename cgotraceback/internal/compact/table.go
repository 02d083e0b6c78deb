// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact

import (
	"encoding/binary"
	"math"
)

// The first word of each table, as in tables.h.
const (
	magicUnwind = 0x31574c43
	magicNames  = 0x32574c43
	magicLines  = 0x33574c43
)

const headSize = 16

// table is a table that is being written: a head, the places of its arrays, and the arrays.
type table struct {
	b    []byte
	next int // array
}

func newTable(magic uint32, base uint64, arrays int) *table {
	t := &table{b: make([]byte, headSize+8*arrays)}
	binary.LittleEndian.PutUint32(t.b, magic)
	binary.LittleEndian.PutUint64(t.b[8:], base)
	return t
}

// array appends the next array, of count entries of size bytes.
func (t *table) array(count, size int, appendTo func([]byte) []byte) {
	for len(t.b)%8 != 0 {
		t.b = append(t.b, 0)
	}
	place := t.b[headSize+8*t.next:]
	binary.LittleEndian.PutUint32(place, uint32(len(t.b)))
	binary.LittleEndian.PutUint32(place[4:], uint32(count))
	t.next++
	if free := cap(t.b) - len(t.b); free < count*size {
		t.b = append(make([]byte, 0, len(t.b)+count*size+256), t.b...)
	}
	t.b = appendTo(t.b)
}

// finish returns the table, nil if it is too large for its offsets.
func (t *table) finish() []byte {
	if uint64(len(t.b)) > math.MaxUint32 {
		return nil
	}
	binary.LittleEndian.PutUint32(t.b[4:], uint32(len(t.b)))
	return t.b
}

// Check reports whether the arrays of a table are inside of it, with the sizes and the alignment that tables.h
// describes. The C code relies on that, and checks every index when it uses it.
func Check(b []byte) bool {
	le := binary.LittleEndian
	if len(b) < headSize || uint64(le.Uint32(b[4:])) != uint64(len(b)) {
		return false
	}
	var sizes []uint64 // of the entries of each array, in bytes
	switch le.Uint32(b) {
	case magicUnwind:
		sizes = []uint64{4, 2, 1, 8, 16, 8}
	case magicNames:
		sizes = []uint64{8}
	case magicLines:
		sizes = []uint64{8, 16, 1}
	default:
		return false
	}
	head := uint64(headSize + 8*len(sizes))
	if uint64(len(b)) < head {
		return false
	}
	for i, size := range sizes {
		place := b[headSize+8*i:]
		offset, count := uint64(le.Uint32(place)), uint64(le.Uint32(place[4:]))
		end := offset + count*size
		if offset < head || offset%min(size, 4) != 0 || end > uint64(len(b)) {
			return false
		}
		if i == 2 && le.Uint32(b) == magicLines && (count == 0 || b[end-1] != 0) {
			return false // the last string has no end
		}
	}
	return true
}
