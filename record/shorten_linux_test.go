// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bytes"
	"debug/elf"
	"math"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// sampleRecord returns a sample as the kernel writes it.
func sampleRecord(callchain, registers int, size, filled uint64) []byte {
	b := make([]byte, 8+6*8)
	b = order.AppendUint64(b, uint64(callchain))
	b = append(b, bytes.Repeat([]byte{1}, 8*callchain)...)
	if registers > 0 {
		b = order.AppendUint64(b, uint64(perfdata.ABI64))
		b = append(b, bytes.Repeat([]byte{2}, 8*registers)...)
	} else {
		b = order.AppendUint64(b, uint64(perfdata.ABINone))
	}
	b = order.AppendUint64(b, size)
	if size > 0 {
		for i := range size {
			b = append(b, byte(i))
		}
		b = order.AppendUint64(b, filled)
	}
	order.PutUint32(b, uint32(perfdata.TypeSample))
	order.PutUint16(b[6:], uint16(len(b)))
	return b
}

func testShortener(t testing.TB) (*shortener, int) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	e, err := newEvent(&Options{All: true}, m, false)
	if err != nil {
		t.Fatal(err)
	}
	s := newShortener(e, m)
	return s, s.registers
}

// shortened returns the parts of a shortened sample together.
func shortened(s *shortener, record []byte, end uint64) []byte {
	head, copied, filled := s.sample(record, end)
	return slices.Concat(head, copied, filled)
}

func TestShorten(t *testing.T) {
	s, registers := testShortener(t)
	for _, test := range []struct {
		name              string
		callchain, regs   int
		size, filled      uint64
		wantSize, filled2 uint64
	}{
		{"half", 0, registers, 1024, 512, 512, 512},
		{"all", 3, registers, 1024, 1024, 1024, 1024},
		{"odd", 3, registers, 1024, 13, 16, 13},
		{"nothing", 5, registers, 1024, 0, 8, 0},
		{"no stack", 5, registers, 0, 0, 0, 0},
		{"kernel thread", 5, 0, 0, 0, 0, 0},
		{"more than there is", 0, registers, 64, 65, 64, 65},
	} {
		record := sampleRecord(test.callchain, test.regs, test.size, test.filled)
		want := sampleRecord(test.callchain, test.regs, test.wantSize, test.filled2)
		if got := shortened(s, record, math.MaxUint64); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x, expected\n%x", test.name, got, want)
		}
	}
	const sp = 0x0202020202020202 // as all registers
	for _, test := range []struct{ end, want uint64 }{{sp + 512, 512}, {sp + 13, 13}, {sp + 1, 1}, {sp, 1024}, {sp - 1, 1024}, {sp + 1<<20, 1024}} {
		want := sampleRecord(3, registers, (test.want+7)&^7, test.want)
		if got := shortened(s, sampleRecord(3, registers, 2048, 1024), test.end); !bytes.Equal(got, want) {
			t.Errorf("end at the stack pointer and %d:\n%x, expected\n%x", int64(test.end-sp), got, want)
		}
	}
	record := sampleRecord(2, registers, 64, 8)
	for n := range record {
		if got := shortened(s, record[:n], math.MaxUint64); !bytes.Equal(got, record[:n]) {
			t.Errorf("a sample of %d bytes became one of %d", n, len(got))
		}
	}
}

func FuzzShorten(f *testing.F) {
	s, registers := testShortener(f)
	f.Add(sampleRecord(2, registers, 64, 8), uint64(math.MaxUint64))
	f.Add(sampleRecord(0, registers, 8, 9), uint64(1))
	f.Fuzz(func(t *testing.T, record []byte, end uint64) {
		if got := shortened(s, record, end); len(got) > len(record) {
			t.Errorf("%d bytes became %d", len(record), len(got))
		}
	})
}
