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
	buffer    []byte
}

func newShortener(e *event) *shortener {
	// header, IDENTIFIER, IP, TID, TIME, CPU, PERIOD: see perf_output_sample in kernel/events/core.c
	return &shortener{callchain: 8 + 6*8, registers: bits.OnesCount64(e.attr.Sample_regs_user)}
}

// sample returns a sample without the unused part of its stack copy. The result is valid until the
// next call. A sample of another form is returned as it is.
func (s *shortener) sample(record []byte) []byte {
	at := s.callchain
	if len(record) < at+8 {
		return record
	}
	at += 8 + 8*int(order.Uint32(record[at:]))
	if len(record) < at+8 {
		return record
	}
	if order.Uint64(record[at:]) != 0 { // the registers' ABI
		at += 8 * s.registers
	}
	at += 8
	if len(record) < at+8 {
		return record
	}
	size := order.Uint64(record[at:])
	if size == 0 || uint64(len(record)) != uint64(at)+16+size {
		return record
	}
	filled := order.Uint64(record[len(record)-8:])
	kept := (filled + 7) &^ 7
	if filled > size || kept == size {
		return record
	}
	if kept == 0 {
		kept = 8 // size 0 would mean that no filled size follows
	}
	s.buffer = append(s.buffer[:0], record[:uint64(at)+8+kept]...)
	s.buffer = order.AppendUint64(s.buffer, filled)
	order.PutUint16(s.buffer[6:], uint16(len(s.buffer)))
	order.PutUint64(s.buffer[at:], kept)
	return s.buffer
}
