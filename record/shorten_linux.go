// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"encoding/binary"
	"math/bits"
)

var order = binary.NativeEndian

func word(record []byte) uint32 { return order.Uint32(record) }

// shortener removes the unused part of stack copies: the kernel reserves the size that was asked for
// in every sample, and writes how much of it is filled after it.
type shortener struct {
	callchain int // offset of the length of the call chain in a sample, bytes
	registers int // of a sample
	head      []byte
}

func newShortener(e *event) *shortener {
	// header, IDENTIFIER, IP, TID, TIME, CPU, PERIOD: see perf_output_sample in kernel/events/core.c
	return &shortener{callchain: 8 + 6*8, registers: bits.OnesCount64(e.attr.Sample_regs_user)}
}

// sample returns a sample in three parts, without the unused part of its stack copy. The caller may change head,
// which has all fields before the stack copy, until the next call. The stack copy is still in the record. A
// sample of another form is returned as it is.
func (s *shortener) sample(record []byte) (head, copied, filled []byte) {
	at := s.sizeAt(record)
	if at == 0 {
		s.head = append(s.head[:0], record...)
		return s.head, nil, nil
	}
	size, used := order.Uint64(record[at:]), order.Uint64(record[len(record)-8:])
	s.head = append(s.head[:0], record[:at+8]...)
	copied, filled = record[at+8:len(record)-8], record[len(record)-8:]
	kept := max((used+7)&^7, 8) // size 0 would mean that the size of the filled part is missing
	if used > size || kept >= size {
		return s.head, copied, filled
	}
	order.PutUint64(s.head[at:], kept)
	order.PutUint16(s.head[6:], uint16(uint64(at)+8+kept+8))
	return s.head, copied[:kept], filled
}

// sizeAt returns the offset of the size of the stack copy in a sample, or 0 if it has none or another form.
func (s *shortener) sizeAt(record []byte) int {
	at := s.callchain
	if len(record) < at+8 {
		return 0
	}
	at += 8 + 8*int(order.Uint32(record[at:]))
	if len(record) < at+8 {
		return 0
	}
	if order.Uint64(record[at:]) != 0 { // the registers' ABI
		at += 8 * s.registers
	}
	at += 8
	if len(record) < at+8 {
		return 0
	}
	size := order.Uint64(record[at:])
	if size == 0 || uint64(len(record)) != uint64(at)+16+size {
		return 0
	}
	return at
}
