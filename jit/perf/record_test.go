// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var orders = []byteOrder{binary.LittleEndian, binary.BigEndian}

// startDump returns a dump with a header only.
func startDump(order byteOrder) *Encoder {
	e := &Encoder{Order: order}
	e.Header(&Header{Machine: 62, PID: 1234, Time: 0x1122334455667788, Flags: FlagArchTimestamp})
	return e
}

func TestHeader(t *testing.T) {
	for _, order := range orders {
		data := startDump(order).Data
		d, err := ParseJitdump("dump", data)
		if err != nil {
			t.Fatal(order, err)
		}
		if want := (Header{order, 62, 1234, 0x1122334455667788, FlagArchTimestamp}); d.Header != want {
			t.Errorf("%v: %+v, want %+v", order, d.Header, want)
		}
		if d.End != headerSize || d.Closed || d.Damage() != nil {
			t.Errorf("%v: end %d, closed %t, %v", order, d.End, d.Closed, d.Damage())
		}
	}
}

func TestBadHeader(t *testing.T) {
	change := func(at int, b ...byte) []byte {
		data := startDump(binary.LittleEndian).Data
		copy(data[at:], b)
		return data
	}
	for _, test := range []struct {
		data []byte
		kind error
		text string
	}{
		{nil, ErrTruncated, "f+0x0: truncated: 0 bytes, expected a jitdump's header of 40"},
		{change(0)[:39], ErrTruncated, "f+0x0: truncated: 39 bytes, expected a jitdump's header of 40"},
		{[]byte("\x7fELF"), ErrHeader, `f+0x0: not a jitdump: it starts with 7f 45 4c 46, not with "JiTD" in either byte order`},
		{change(4, 2), ErrHeader, "f+0x4: not a jitdump: version 2, expected 1"},
		{change(8, 39), ErrHeader, "f+0x8: not a jitdump: a header of 39 bytes, expected at least 40"},
		{change(8, 41), ErrTruncated, "f+0x8: truncated: a header of 41 bytes in a file of 40"},
		{change(12, 0, 0, 1), ErrHeader, "f+0xc: not a jitdump: machine 0x10000, expected an ELF machine's 16 bits"},
	} {
		d, err := ParseJitdump("f", test.data)
		var place *Error
		if d != nil || !errors.Is(err, test.kind) || !errors.As(err, &place) || err.Error() != test.text {
			t.Errorf("% x: %v, %v\nwant %s", test.data, d, err, test.text)
		}
	}
}

// anyRecord is a record of any type, for writing and comparing.
type anyRecord struct {
	time uint64
	body any // Load, Move, []DebugEntry, UnwindingInfo, or an unknown record's bytes
}

func randomRecord(r *rand.Rand) anyRecord {
	random := func(limit int) []byte {
		b := make([]byte, r.IntN(limit))
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
		}
		return b
	}
	a := anyRecord{time: r.Uint64()}
	switch r.IntN(5) {
	case 0:
		a.body = Load{r.Uint32(), r.Uint32(), r.Uint64(), r.Uint64() >> 1, r.Uint64(), string(random(20)), random(50)}
	case 1:
		a.body = Move{r.Uint32(), r.Uint32(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	case 2:
		entries := make([]DebugEntry, r.IntN(4))
		for i := range entries {
			entries[i] = DebugEntry{r.Uint64(), int32(r.Uint32()), int32(r.Uint32()), string(random(9)) + "x"}
		}
		a.body = entries
	case 3:
		// The order of the tables follows from a header's version and pointer, and a CIE's id.
		frame := append([]byte{20, 0, 0, 0, 0, 0, 0, 0}, random(30)...)
		header := append([]byte{1, 0x1b, 3, 0x3b, 9, 9, 9, 9}, random(30)...)
		a.body = UnwindingInfo{r.Uint64(), frame, header, r.IntN(2) == 0}
	case 4:
		a.body = random(30)
	}
	return a
}

func (a *anyRecord) write(e *Encoder) error {
	switch body := a.body.(type) {
	case Load:
		return e.Load(a.time, &body)
	case Move:
		return e.Move(a.time, &body)
	case []DebugEntry:
		return e.DebugInfo(a.time, 0x4711, body)
	case UnwindingInfo:
		return e.UnwindingInfo(a.time, &body)
	case []byte:
		err := e.begin(99, prefixSize+uint64(len(body)), a.time)
		e.Data = append(e.Data, body...)
		return err
	}
	return nil
}

func (a *anyRecord) check(t *testing.T, r Record) {
	t.Helper()
	var got any
	var err error
	switch a.body.(type) {
	case Load:
		got, err = r.Load()
	case Move:
		got, err = r.Move()
	case []DebugEntry:
		var info DebugInfo
		info, err = r.DebugInfo()
		entries := slices.AppendSeq([]DebugEntry{}, info.Entries())
		if info.Address != 0x4711 || info.Count != uint64(len(entries)) {
			t.Errorf("debug info %+v with %d entries", info, len(entries))
		}
		got = entries
	case UnwindingInfo:
		got, err = r.UnwindingInfo()
	case []byte:
		got = r.dump.data[r.Offset+prefixSize : r.Offset+r.Size]
		if r.ID != 99 {
			t.Errorf("record %d, want 99", r.ID)
		}
	}
	if err != nil || r.Time != a.time || !reflect.DeepEqual(got, a.body) {
		t.Errorf("%+v at %d: %v\nwant %+v at %d", got, r.Time, err, a.body, a.time)
	}
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, order := range orders {
		for range 300 {
			e := startDump(order)
			records := make([]anyRecord, r.IntN(8))
			for i := range records {
				records[i] = randomRecord(r)
				if err := records[i].write(e); err != nil {
					t.Fatal(err)
				}
			}
			closed := r.IntN(2) == 0
			end := len(e.Data)
			if closed {
				if err := e.Close(7); err != nil {
					t.Fatal(err)
				}
				end = len(e.Data)
				e.Data = append(e.Data, "not part of the dump"...)
			} else {
				// A record that is not yet complete.
				last := Load{Name: "later", Code: make([]byte, 10)}
				if err := e.Load(1, &last); err != nil {
					t.Fatal(err)
				}
				e.Data = e.Data[:end+r.IntN(len(e.Data)-end)]
			}
			d, err := ParseJitdump("dump", e.Data)
			if err != nil {
				t.Fatal(err)
			}
			if d.End != uint64(end) || d.Closed != closed || d.Damage() != nil {
				t.Fatalf("end %d, closed %t, %v; want %d, %t", d.End, d.Closed, d.Damage(), end, closed)
			}
			got := slices.Collect(d.Records())
			if closed {
				if last := got[len(got)-1]; last.ID != CodeClose || last.Time != 7 {
					t.Fatalf("%+v, want the CodeClose", last)
				}
				got = got[:len(got)-1]
			}
			if len(got) != len(records) {
				t.Fatalf("%d records, want %d", len(got), len(records))
			}
			for i := range got {
				records[i].check(t, got[i])
			}
		}
	}
}

// In Linux's jitdump.h "\xff" repeats the previous file name.
func TestSameFile(t *testing.T) {
	e := startDump(binary.LittleEndian)
	if err := e.DebugInfo(1, 0x100, []DebugEntry{{0x100, 1, 0, "a.c"}, {0x104, 2, 0, "\xff"}, {0x108, 3, 0, "\xff"}}); err != nil {
		t.Fatal(err)
	}
	d, err := ParseJitdump("dump", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	for r := range d.Records() {
		info, err := r.DebugInfo()
		if err != nil {
			t.Fatal(err)
		}
		for entry := range info.Entries() {
			if entry.File != "a.c" {
				t.Errorf("%+v", entry)
			}
		}
	}
}

func TestBadRecords(t *testing.T) {
	le := binary.LittleEndian
	body := func(words ...uint64) (b []byte) {
		for _, w := range words {
			b = le.AppendUint64(b, w)
		}
		return b
	}
	for _, test := range []struct {
		id   RecordID
		body []byte
		text string // of the error, "" if it concerns the next record
	}{
		{CodeLoad, body(0, 0, 0), "f+0x50: invalid jitdump record: 0 bytes are left of the record, expected 8"},
		{CodeLoad, append(body(0, 0, 0x1000, 1, 0), "no end"...), "f+0x60: invalid jitdump record: a string without a NUL in 6 bytes"},
		{CodeLoad, append(body(0, 0, 0x1000, 4, 0), "f\x00123"...), "f+0x50: invalid jitdump record: code of 0x4 bytes, but only 0x3 are left"},
		{CodeLoad, append(body(0, 0, math.MaxUint64, 3, 0), "f\x00123"...), "f+0x48: invalid jitdump record: 0x3 bytes of code at 0xffffffffffffffff pass the end of the address space"},
		{CodeMove, body(0, 0, 0, 0, 0), "f+0x60: invalid jitdump record: 0 bytes are left of the record, expected 8"},
		{CodeDebugInfo, body(0, math.MaxUint64), "f+0x48: invalid jitdump record: 0 bytes are left of the record, expected 16"},
		{CodeDebugInfo, append(body(0, 2, 0, 0), "f\x00"...), "f+0x5a: invalid jitdump record: 0 bytes are left of the record, expected 16"},
		{CodeUnwindingInfo, body(8, 9, 0, 0), "f+0x40: invalid jitdump record: an .eh_frame_hdr of 0x9 bytes, but both tables have 0x8"},
		{CodeUnwindingInfo, body(math.MaxUint64, 8, 0, 0), "f+0x50: invalid jitdump record: 8 bytes are left of the record, expected 18446744073709551615"},
	} {
		e := startDump(le)
		if err := e.begin(test.id, prefixSize+uint64(len(test.body)), 1); err != nil {
			t.Fatal(err)
		}
		e.Data = append(e.Data, test.body...)
		good := Load{Address: 0x1000, Index: 5, Name: "good", Code: []byte{0xc3}}
		if err := e.Load(2, &good); err != nil {
			t.Fatal(err)
		}
		d, err := ParseJitdump("f", e.Data)
		if err != nil {
			t.Fatal(err)
		}
		x := d.Index()
		all, err := x.Damage()
		if test.id == CodeUnwindingInfo {
			// It is read when a caller asks for it.
			_, err = x.EHFrame(&x.Functions()[0])
		} else if all != 1 {
			t.Errorf("record %d: %d bad records, want 1", test.id, all)
		}
		if err == nil || !errors.Is(err, ErrRecord) || err.Error() != test.text {
			t.Errorf("record %d: %v\nwant %s", test.id, err, test.text)
		}
		if f, ok := x.Find(0x1000, 2); !ok || x.Name(f) != "good" {
			t.Errorf("record %d: what follows it is lost", test.id)
		}
	}
}

func TestBadSize(t *testing.T) {
	e := startDump(binary.BigEndian)
	good := Load{Name: "good", Code: []byte{1}}
	if err := e.Load(2, &good); err != nil {
		t.Fatal(err)
	}
	end := len(e.Data)
	e.Data = append(e.Data, bytes.Repeat([]byte{0}, 40)...)
	d, err := ParseJitdump("f", e.Data)
	if err != nil {
		t.Fatal(err)
	}
	if d.End != uint64(end) || d.Damage() == nil || !strings.HasPrefix(d.Damage().Error(), "f+0x6a: invalid jitdump record: a size of 0 bytes") {
		t.Errorf("end %#x, %v", d.End, d.Damage())
	}
	if n := len(d.Index().Functions()); n != 1 {
		t.Errorf("%d functions, want 1", n)
	}
}

func TestRecordTooLarge(t *testing.T) {
	e := startDump(binary.LittleEndian)
	before := len(e.Data)
	if err := e.begin(CodeLoad, math.MaxUint32+1, 0); !errors.Is(err, ErrRecord) || len(e.Data) != before {
		t.Errorf("%v and %d bytes more", err, len(e.Data)-before)
	}
}
