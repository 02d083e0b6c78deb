// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"encoding/binary"
	"math/bits"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
)

var order = binary.NativeEndian

func word(record []byte) uint32 { return order.Uint32(record) }

// shortener removes the part of stack copies that nobody reads: the kernel reserves the size that was asked for
// in every sample, and writes how much of it is filled after it.
type shortener struct {
	callchain int // offset of the length of the call chain in a sample, bytes
	registers int // of a sample
	sp        int // number of the stack pointer among the registers, -1 if it is none
	head      []byte
	filled    [8]byte
}

func newShortener(e *event, m *arch.Machine) *shortener {
	mask := e.attr.Sample_regs_user
	// header, IDENTIFIER, IP, TID, TIME, CPU, PERIOD: see perf_output_sample in kernel/events/core.c
	s := &shortener{callchain: 8 + 6*8, registers: bits.OnesCount64(mask), sp: -1}
	for i, column := range m.Perf.Columns {
		if int(column) == m.StackPointer && mask>>i&1 != 0 {
			s.sp = bits.OnesCount64(mask & (1<<i - 1))
		}
	}
	return s
}

// sample returns a sample in three parts, without the unused part of its stack copy and without the part after
// the address end. The caller may change head, which has all fields before the stack copy, until the next
// call. The stack copy is still in the record. A sample of another form is returned as it is.
func (s *shortener) sample(record []byte, end uint64) (head, copied, filled []byte) {
	at, sp := s.find(record)
	if at == 0 {
		s.head = append(s.head[:0], record...)
		return s.head, nil, nil
	}
	size, used := order.Uint64(record[at:]), order.Uint64(record[len(record)-8:])
	s.head = append(s.head[:0], record[:at+8]...)
	copied, filled = record[at+8:len(record)-8], record[len(record)-8:]
	if used > size {
		return s.head, copied, filled
	}
	if sp != 0 && sp < end {
		used = min(used, end-sp)
	}
	kept := max((used+7)&^7, 8) // size 0 would mean that the size of the filled part is missing
	if kept >= size {
		return s.head, copied, filled
	}
	order.PutUint64(s.head[at:], kept)
	order.PutUint16(s.head[6:], uint16(uint64(at)+8+kept+8))
	order.PutUint64(s.filled[:], used)
	return s.head, copied[:kept], s.filled[:]
}

// find returns the offset of the size of the stack copy in a sample, or 0 if it has none or another form, and the
// stack pointer, 0 if it is unknown.
func (s *shortener) find(record []byte) (at int, sp uint64) {
	at = s.callchain
	if len(record) < at+8 {
		return 0, 0
	}
	at += 8 + 8*int(order.Uint32(record[at:]))
	if len(record) < at+8 {
		return 0, 0
	}
	abi, registers := perfdata.ABI(order.Uint64(record[at:])), at+8
	if abi != perfdata.ABINone {
		at += 8 * s.registers
	}
	at += 8
	if len(record) < at+8 {
		return 0, 0
	}
	size := order.Uint64(record[at:])
	if size == 0 || uint64(len(record)) != uint64(at)+16+size {
		return 0, 0
	}
	if abi == perfdata.ABI64 && s.sp >= 0 {
		sp = order.Uint64(record[registers+8*s.sp:])
	}
	return at, sp
}
