// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encoder writes a jitdump: it appends the header and records to Data, in the form that
// Jitdump reads. After an error Data is unchanged. It is not safe for concurrent use.
type Encoder struct {
	Order binary.AppendByteOrder
	Data  []byte
}

func (e *Encoder) uint32(v uint32) { e.Data = e.Order.AppendUint32(e.Data, v) }
func (e *Encoder) uint64(v uint64) { e.Data = e.Order.AppendUint64(e.Data, v) }
func (e *Encoder) string(s string) { e.Data = append(append(e.Data, s...), 0) }

// Header appends a header. Its Order is the Encoder's.
func (e *Encoder) Header(h *Header) {
	e.uint32(magic)
	e.uint32(version)
	e.uint32(headerSize)
	e.uint32(uint32(h.Machine))
	e.uint32(0)
	e.uint32(h.PID)
	e.uint64(h.Time)
	e.uint64(h.Flags)
}

// begin appends the prefix of a record of the given size.
func (e *Encoder) begin(id RecordID, size uint64, time uint64) error {
	if size > math.MaxUint32 {
		return fmt.Errorf("%w: %#x bytes do not fit 32 bits", ErrRecord, size)
	}
	e.uint32(uint32(id))
	e.uint32(uint32(size))
	e.uint64(time)
	return nil
}

// Load appends a CodeLoad. The records that belong to it come before it.
func (e *Encoder) Load(time uint64, l *Load) error {
	if err := e.begin(CodeLoad, loadSize+uint64(len(l.Name))+1+uint64(len(l.Code)), time); err != nil {
		return err
	}
	e.uint32(l.PID)
	e.uint32(l.TID)
	e.uint64(l.VMA)
	e.uint64(l.Address)
	e.uint64(uint64(len(l.Code)))
	e.uint64(l.Index)
	e.string(l.Name)
	e.Data = append(e.Data, l.Code...)
	return nil
}

// Move appends a CodeMove. perf loses the function's unwind table at a move: prefer a
// new CodeLoad.
func (e *Encoder) Move(time uint64, m *Move) error {
	if err := e.begin(CodeMove, moveSize, time); err != nil {
		return err
	}
	e.uint32(m.PID)
	e.uint32(m.TID)
	e.uint64(m.VMA)
	e.uint64(m.From)
	e.uint64(m.To)
	e.uint64(m.Size)
	e.uint64(m.Index)
	return nil
}

// DebugInfo appends a CodeDebugInfo for the function at an address.
func (e *Encoder) DebugInfo(time, address uint64, entries []DebugEntry) error {
	size := uint64(debugSize)
	for i := range entries {
		size += 16 + uint64(len(entries[i].File)) + 1
	}
	if err := e.begin(CodeDebugInfo, size, time); err != nil {
		return err
	}
	e.uint64(address)
	e.uint64(uint64(len(entries)))
	for i := range entries {
		entry := &entries[i]
		e.uint64(entry.Address)
		e.uint32(uint32(entry.Line))
		e.uint32(uint32(entry.Discriminator))
		e.string(entry.File)
	}
	return nil
}

// UnwindingInfo appends a CodeUnwindingInfo, padded to a multiple of 8 bytes.
func (e *Encoder) UnwindingInfo(time uint64, u *UnwindingInfo) error {
	size := uint64(len(u.EHFrame) + len(u.Header))
	padded := align8(size)
	if err := e.begin(CodeUnwindingInfo, unwindingSize+padded, time); err != nil {
		return err
	}
	e.uint64(size)
	e.uint64(uint64(len(u.Header)))
	e.uint64(u.MappedSize)
	first, second := u.EHFrame, u.Header
	if u.HeaderFirst {
		first, second = second, first
	}
	e.Data = append(append(e.Data, first...), second...)
	for range padded - size {
		e.Data = append(e.Data, 0)
	}
	return nil
}

// Close appends a CodeClose.
func (e *Encoder) Close(time uint64) error { return e.begin(CodeClose, prefixSize, time) }

func align8(n uint64) uint64 { return (n + 7) &^ 7 }
