// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// encoder writes recordings in either byte order.
type encoder struct {
	binary.AppendByteOrder
	b []byte
}

func newEncoder(order binary.AppendByteOrder) *encoder { return &encoder{AppendByteOrder: order} }

// orders are the byte orders of recordings.
var orders = map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

func (e *encoder) u8(v uint8)         { e.b = append(e.b, v) }
func (e *encoder) u16(list ...uint16) { each(e, e.AppendUint16, list) }
func (e *encoder) u32(list ...uint32) { each(e, e.AppendUint32, list) }
func (e *encoder) u64(list ...uint64) { each(e, e.AppendUint64, list) }

func each[T any](e *encoder, put func([]byte, T) []byte, list []T) {
	for _, v := range list {
		e.b = put(e.b, v)
	}
}

// text writes s with a zero byte, and pads to whole words.
func (e *encoder) text(s string) {
	e.b = append(e.b, s...)
	e.b = append(e.b, make([]byte, 8-len(s)%8)...)
}

// header string: a length and text.
func (e *encoder) str(s string) {
	n := (len(s) + 64) &^ 63 // perf pads to NAME_ALIGN
	e.u32(uint32(n))
	e.b = append(append(e.b, s...), make([]byte, n-len(s))...)
}

// record writes a record. The function write writes its payload.
func (e *encoder) record(t perfdata.Type, misc perfdata.Misc, write func()) {
	at := len(e.b)
	e.u32(uint32(t))
	e.u16(uint16(misc), 0)
	if write != nil {
		write()
	}
	e.setSize(at, len(e.b)-at)
}

func (e *encoder) setSize(at, size int) {
	copy(e.b[at+6:], e.AppendUint16(nil, uint16(size)))
}

// event is the content of a perf_event_attr.
type event struct {
	sampleType       perfdata.SampleType
	readFormat       uint64
	flags            perfdata.AttributeFlags
	branchSampleType uint64
	regsUser         uint64
	regsIntr         uint64
	stackUser        uint32
	clockID          int32
	ids              []uint64
}

const idAll = perfdata.FlagSampleIDAll

// attr writes the 120 bytes of a perf_event_attr of kind cpu-clock.
func (e *encoder) attr(a event) {
	e.u32(1, 120)
	e.u64(0, 4000, uint64(a.sampleType), a.readFormat)
	flags := uint64(a.flags)
	if e.AppendByteOrder == binary.BigEndian {
		// The compiler's first bit field has the highest bit; precise_ip has two bits.
		precise := flags >> 15 & 3
		flags &^= 3 << 15
		swapped := uint64(0)
		for i := range 64 {
			swapped |= flags >> i & 1 << (63 - i)
		}
		flags = swapped | precise<<(63-16)
	}
	e.u64(flags)
	e.u32(0, 0)
	e.u64(0, 0, a.branchSampleType, a.regsUser)
	e.u32(a.stackUser, uint32(a.clockID))
	e.u64(a.regsIntr)
	e.u32(0)
	e.u16(127, 0)
	e.u32(0, 0)
}

// pipe writes the start of a stream, and its events.
func (e *encoder) pipe(events ...event) *encoder {
	e.u64(0x32454c4946524550, 16)
	for _, a := range events {
		e.record(perfdata.TypeHeaderAttr, 0, func() {
			e.attr(a)
			e.u64(a.ids...)
		})
	}
	return e
}

// file returns a recording in the format of a file with some records and features.
func (e *encoder) file(records []byte, features map[int]func(), events ...event) []byte {
	const header, attr = 104, 120 + 16
	var bits [4]uint64
	for f := range features {
		bits[f/64] |= 1 << (f % 64)
	}
	ids := 0
	for _, a := range events {
		ids += 8 * len(a.ids)
	}
	data := header + len(events)*attr + ids
	e.u64(0x32454c4946524550, header, attr)
	e.u64(header, uint64(len(events)*attr), uint64(data), uint64(len(records)), 0, 0)
	e.u64(bits[:]...)
	at := header + len(events)*attr
	for _, a := range events {
		e.attr(a)
		e.u64(uint64(at), uint64(8*len(a.ids)))
		at += 8 * len(a.ids)
	}
	for _, a := range events {
		e.u64(a.ids...)
	}
	e.b = append(e.b, records...)
	table := len(e.b)
	e.b = append(e.b, make([]byte, 16*len(features))...)
	for f := range 256 {
		if write := features[f]; write != nil {
			at := len(e.b)
			write()
			copy(e.b[table:], e.AppendUint64(e.AppendUint64(nil, uint64(at)), uint64(len(e.b)-at)))
			table += 16
		}
	}
	return e.b
}

// timed is an event with samples that have only thread and time.
var timed = event{sampleType: perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime, flags: idAll, ids: []uint64{1}}

// sampleAt writes a sample of timed.
func (e *encoder) sampleAt(ip, time uint64) {
	e.record(perfdata.TypeSample, 2, func() {
		e.u64(ip)
		e.u32(7, 8)
		e.u64(time)
	})
}

// commAt writes a record with a SampleID of timed.
func (e *encoder) commAt(name string, time uint64) {
	e.record(perfdata.TypeComm, 0, func() {
		e.u32(7, 8)
		e.text(name)
		e.u32(7, 8)
		e.u64(time)
	})
}

// stream hides that its bytes support seeking.
func stream(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b)) }

// readerAt is an io.ReaderAt and io.Seeker, like a file.
func readerAt(b []byte) io.Reader { return bytes.NewReader(b) }

func open(t testing.TB, b []byte) *perfdata.Reader {
	t.Helper()
	r, err := perfdata.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// next returns the next record of one of the types, or of any.
func next(t testing.TB, r *perfdata.Reader, types ...perfdata.Type) *perfdata.Record {
	t.Helper()
	for {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(types) == 0 {
			return rec
		}
		for _, want := range types {
			if rec.Type == want {
				return rec
			}
		}
	}
}

// drain returns the text of each record to the end, and the final error.
func drain(r *perfdata.Reader, say func(*perfdata.Record)) error {
	for range math.MaxInt32 {
		rec, err := r.Next()
		if err != nil {
			return err
		}
		say(rec)
	}
	return nil
}

// ips returns the addresses of samples in the order in which they are returned.
func ips(t testing.TB, r *perfdata.Reader) (list []uint64) {
	t.Helper()
	if err := drain(r, func(rec *perfdata.Record) {
		if s, ok := rec.Body.(*perfdata.Sample); ok {
			list = append(list, s.IP)
		}
	}); err != io.EOF {
		t.Fatal(err)
	}
	return list
}
