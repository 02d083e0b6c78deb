// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

// steps are the values of a function for ranges of its code: the depth of its stack, or the
// number of its file or line. Its table has the form that Go's linker writes
// (cmd/internal/obj/pcln.go) and runtime.step reads.
type steps struct {
	quantum uint64 // size of the shortest instruction, bytes
	list    []valueFrom
	table   []byte
}

// valueFrom is the value from an offset in the function on.
type valueFrom struct {
	offset uint64
	value  int32
}

func (s *steps) reset(quantum uint64) { s.quantum, s.list, s.table = quantum, s.list[:0], s.table[:0] }

// add says that a value applies from an offset on. Offsets ascend, and the first is 0.
func (s *steps) add(offset uint64, value int32) {
	offset -= offset % s.quantum
	n := len(s.list)
	if n > 0 && s.list[n-1].offset == offset { // the range is empty
		n--
		s.list = s.list[:n]
	}
	if n == 0 || s.list[n-1].value != value {
		s.list = append(s.list, valueFrom{offset, value})
	}
}

// encode returns the table of a function that ends at an offset. It is valid until reset.
func (s *steps) encode(end uint64) []byte {
	value, at := int32(-1), uint64(0)
	for i, v := range s.list {
		next := (end + s.quantum - 1) / s.quantum * s.quantum
		if i+1 < len(s.list) {
			next = s.list[i+1].offset
		}
		delta := v.value - value
		s.table = appendUvarint(s.table, uint32(delta<<1)^uint32(delta>>31))
		s.table = appendUvarint(s.table, uint32((next-at)/s.quantum))
		value, at = v.value, next
	}
	s.table = append(s.table, 0)
	return s.table
}

func appendUvarint(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}
