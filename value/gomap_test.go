// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// bytesAt is memory that begins at an address.
type bytesAt struct {
	start uint64
	bytes []byte
}

func (b bytesAt) ReadMemory(p []byte, address uint64) error {
	at := address - b.start
	if at > uint64(len(b.bytes)) || uint64(len(p)) > uint64(len(b.bytes))-at {
		return errors.New("nothing there")
	}
	copy(p, b.bytes[at:])
	return nil
}

// hmap returns the type of a map[int]int before Go 1.24: the number of elements, flags, the number of
// buckets as a power of two, and the addresses of the buckets and of the old buckets.
func hmap() *Type {
	word, short := Base(amd64, "long"), IntOf(amd64, "uint8", 1, false)
	structure := func(size uint64, fields ...Field) *Type {
		return &Type{machine: amd64, language: Go, kind: Struct, goKind: goStruct, size: size, sized: true, fields: fields, ready: true}
	}
	bucket := structure(8+8*16+8, Field{Name: "tophash", Type: ArrayOf(short, 8)}, Field{Name: "keys", Type: ArrayOf(word, 8), Offset: 8},
		Field{Name: "values", Type: ArrayOf(word, 8), Offset: 72})
	bucket.fields = append(bucket.fields, Field{Name: "overflow", Type: PointerTo(bucket), Offset: 136})
	header := structure(32, Field{Name: "count", Type: word}, Field{Name: "flags", Type: short, Offset: 8}, Field{Name: "B", Type: short, Offset: 9},
		Field{Name: "buckets", Type: PointerTo(bucket), Offset: 16}, Field{Name: "oldbuckets", Type: PointerTo(bucket), Offset: 24})
	m := PointerTo(header)
	m.goKind, m.name, m.language = goMap, "map[int]int", Go
	return m
}

// TestOldGoMap prints maps of Go before 1.24, with overflow buckets and old buckets.
func TestOldGoMap(t *testing.T) {
	const base, size = 0x10000, 144
	memory := func(words map[int]uint64, tops map[int]byte) bytesAt {
		b := make([]byte, 64*size)
		for at, n := range words {
			binary.LittleEndian.PutUint64(b[at:], n)
		}
		for at, n := range tops {
			b[at] = n
		}
		return bytesAt{base, b}
	}
	bucket := func(n int) int { return 8 + 32 + n*size }
	at := func(n int) uint64 { return base + uint64(bucket(n)) }
	for _, test := range []struct {
		name  string
		words map[int]uint64
		tops  map[int]byte
		want  string
	}{
		{"two in one bucket, and one that was moved", map[int]uint64{0: base + 8, 8: 2, 24: at(0), bucket(0) + 8: 1, bucket(0) + 72: 10, bucket(0) + 24: 3, bucket(0) + 88: 30},
			map[int]byte{bucket(0): 5, bucket(0) + 1: 4, bucket(0) + 2: 255}, "[1: 10, 3: 30]"},
		{"an overflow bucket", map[int]uint64{0: base + 8, 8: 1, 24: at(0), bucket(0) + 136: at(1), bucket(1) + 8: 7, bucket(1) + 72: 70},
			map[int]byte{bucket(1): 9}, "[7: 70]"},
		{"growing", map[int]uint64{0: base + 8, 8: 2, 24: at(0), 32: at(2), bucket(1) + 8: 7, bucket(1) + 72: 70, bucket(2) + 8: 8, bucket(2) + 72: 80},
			map[int]byte{8 + 9: 1, bucket(1): 9, bucket(2): 9}, "[7: 70, 8: 80]"},
		{"growing to the same size", map[int]uint64{0: base + 8, 8: 1, 24: at(0), 32: at(2), bucket(3) + 8: 8, bucket(3) + 72: 80},
			map[int]byte{8 + 8: 8, 8 + 9: 1, bucket(3): 9}, "[8: 80]"},
		{"a ring of buckets", map[int]uint64{0: base + 8, 8: 3, 24: at(0), bucket(0) + 136: at(0)}, nil, "[...+3 more]"},
		{"buckets that are nowhere", map[int]uint64{0: base + 8, 8: 3, 24: 5}, nil, "[...+3 more]"},
		{"2^255 buckets", map[int]uint64{0: base + 8, 8: 3, 24: at(0)}, map[int]byte{8 + 9: 255}, "[...+3 more]"},
	} {
		got := NewPrinter(0).Text(At(hmap(), base, Static(memory(test.words, test.tops), nil, 0)))
		if got != "map[int]int "+test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		}
	}
}

// TestGoMapBounds prints the readable part of a map.
func TestGoMapBounds(t *testing.T) {
	m := hmap()
	words := make([]byte, 32+8)
	binary.LittleEndian.PutUint64(words, 0x10008)
	binary.LittleEndian.PutUint64(words[8:], 1<<63)
	binary.LittleEndian.PutUint64(words[24:], 0x10008)
	words[8+9] = 40
	got := NewPrinter(0).Text(At(m, 0x10000, Static(bytesAt{0x10000, slices.Concat(words, make([]byte, 200))}, nil, 0)))
	if !strings.HasPrefix(got, "map[int]int [") || !strings.HasSuffix(got, " more]") {
		t.Error(got)
	}
}
