// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// Bits of a SampleType for fields that are not read: PERF_SAMPLE_*.
const (
	fieldWeight perfdata.SampleType = 1 << 14
	// skippedFields are READ, BRANCH_STACK, and those after STACK_USER.
	skippedFields = perfdata.FieldRead | perfdata.FieldBranchStack | 0x1fec000&^perfdata.FieldIdentifier
)

// allFields is an event with samples that have every field. A sample has only one of the two
// weight fields.
var allFields = event{
	sampleType: 1<<25 - 1&^fieldWeight,
	readFormat: 1 | 2 | 4 | 8 | 16,
	flags:      idAll | perfdata.FlagFrequency | 1<<15,
	// Any branch, with the index and counters.
	branchSampleType: 1<<3 | 1<<17 | 1<<19,
	regsUser:         1<<0 | 1<<7 | 1<<8,
	regsIntr:         1 << 8,
	stackUser:        64,
	ids:              []uint64{11, 12},
}

// writeAllFields writes the payload of a sample of allFields, in the order of
// perf_output_sample in kernel/events/core.c.
func writeAllFields(e *encoder) {
	writeReadFields(e)
	e.u64(7<<48 | 6<<32 | 5) // weights
	e.u64(0x1e05080021)      // data source
	e.u64(0x10)              // transaction
	e.u64(1, 0x8048000)      // registers at the interrupt
	e.u64(0x1234000)         // physical address
	e.u64(99)                // cgroup
	e.u64(4096, 2<<20)       // page sizes
	e.u64(8)
	e.b = append(e.b, "aux data"...)
}

// writeReadFields writes the fields up to the last one that is read.
func writeReadFields(e *encoder) {
	e.u64(12)         // identifier
	e.u64(0x401000)   // ip
	e.u32(100, 101)   // pid, tid
	e.u64(5000)       // time
	e.u64(0x7fff0010) // addr
	e.u64(12)         // id
	e.u64(77)         // stream
	e.u32(3, 0)       // cpu
	e.u64(250000)     // period
	e.u64(2, 900, 800)
	e.u64(5, 11, 0)
	e.u64(6, 12, 1)
	e.u64(3, perfdata.ContextUser, 0x401000, 0x402000)
	e.u32(12)
	e.b = append(e.b, "raw bytes…"...) // 12 bytes: 16 with the size
	e.u64(1, 9)                        // branches, index
	e.u64(0x1000, 0x2000)
	e.u64(1 | 5<<4 | 3<<20)
	e.u64(0x55)                          // counters
	e.u64(2, 0xaa, 0x7ffff000, 0x401000) // user registers
	e.u64(16)                            // stack
	e.b = append(e.b, "stack…xxxxxxxx"...)
	e.u64(8)
}

var wantAllFields = perfdata.Sample{
	Fields: allFields.sampleType &^ skippedFields,
	IP:     0x401000, Addr: 0x7fff0010, Period: 250000,
	Callchain: []uint64{perfdata.ContextUser, 0x401000, 0x402000},
	Raw:       []byte("raw bytes…"),
	UserRegs:  perfdata.RegisterSet{ABI: perfdata.ABI64, Mask: 1<<0 | 1<<7 | 1<<8, Values: []uint64{0xaa, 0x7ffff000, 0x401000}},
	UserStack: []byte("stack…"),
}

func TestSampleFields(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			e := newEncoder(order).pipe(allFields)
			e.record(perfdata.TypeSample, 0x4002, func() { writeAllFields(e) })
			r := open(t, e.b)
			if r.Order() != order.(binary.ByteOrder) || !r.Pipe() {
				t.Errorf("order %v, pipe %v", r.Order(), r.Pipe())
			}
			rec := next(t, r, perfdata.TypeSample)
			if rec.Err != nil {
				t.Fatal(rec.Err)
			}
			if got := rec.Body.(*perfdata.Sample); !reflect.DeepEqual(*got, wantAllFields) {
				t.Errorf("\n%+v, want\n%+v", *got, wantAllFields)
			}
			id := perfdata.SampleID{PID: 100, TID: 101, Time: 5000, ID: 12, StreamID: 77, CPU: 3,
				Fields: perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldID | perfdata.FieldStreamID | perfdata.FieldCPU | perfdata.FieldIdentifier}
			if rec.ID != id {
				t.Errorf("%+v, want %+v", rec.ID, id)
			}
			if rec.Misc.Mode() != perfdata.ModeUser || rec.Misc&0x4000 == 0 {
				t.Errorf("misc %#x", rec.Misc)
			}
			a := r.Attributes()[0]
			if a.Flags != allFields.flags || !slices.Equal(a.IDs, allFields.ids) || a.Name != "cpu-clock" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestCutSample truncates the sample at all places: the fields before are read.
func TestCutSample(t *testing.T) {
	e := newEncoder(binary.LittleEndian)
	writeReadFields(e)
	payload := e.b
	fields := perfdata.SampleType(0)
	for n := 0; n < len(payload); n += 4 {
		e := newEncoder(binary.LittleEndian).pipe(allFields)
		e.record(perfdata.TypeSample, 2, func() { e.b = append(e.b, payload[:n]...) })
		rec := next(t, open(t, e.b), perfdata.TypeSample)
		if rec.Err == nil {
			t.Fatalf("%d bytes of %d: no error", n, len(payload))
		}
		s := rec.Body.(*perfdata.Sample)
		if s.Fields&fields != fields || s.Fields == wantAllFields.Fields {
			t.Errorf("%d bytes: fields %#x, of less %#x", n, s.Fields, fields)
		}
		fields = s.Fields
		for i := range reflect.TypeFor[perfdata.Sample]().NumField() {
			field := reflect.TypeFor[perfdata.Sample]().Field(i)
			bit, ok := fieldOf[field.Name]
			got, want := reflect.ValueOf(*s).Field(i), reflect.ValueOf(wantAllFields).Field(i)
			if ok && s.Fields&bit == bit && !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Errorf("%d bytes: %s is %v, want %v", n, field.Name, got, want)
			}
		}
	}
	if fields|perfdata.FieldUserStack != wantAllFields.Fields {
		t.Errorf("fields %#x of the longest", fields)
	}
}

var fieldOf = map[string]perfdata.SampleType{
	"IP": perfdata.FieldIP, "Addr": perfdata.FieldAddr, "Period": perfdata.FieldPeriod,
	"Callchain": perfdata.FieldCallchain, "Raw": perfdata.FieldRaw,
	"UserRegs": perfdata.FieldUserRegs, "UserStack": perfdata.FieldUserStack,
}

// TestReadFormats has a call chain after counts of all forms.
func TestReadFormats(t *testing.T) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	for _, test := range []struct {
		format uint64
		words  []uint64
	}{
		{0, []uint64{5}},
		{id, []uint64{5, 1}},
		{enabled | running | id | lost, []uint64{5, 90, 80, 1, 2}},
		{group, []uint64{2, 5, 6}},
		{group | running | lost, []uint64{2, 80, 5, 1, 6, 2}},
		{group | id, []uint64{0}},
	} {
		e := newEncoder(binary.LittleEndian).pipe(event{sampleType: perfdata.FieldRead | perfdata.FieldCallchain, readFormat: test.format})
		e.record(perfdata.TypeSample, 0, func() { e.u64(test.words...); e.u64(1, 0x1000) })
		// One word is missing.
		e.record(perfdata.TypeSample, 0, func() { e.u64(test.words[:len(test.words)-1]...) })
		// More entries than the record has, so that the size of all is more than 64 bits.
		e.record(perfdata.TypeSample, 0, func() { e.u64(1<<61+1, 2, 3, 4, 5) })
		r := open(t, e.b)
		if rec := next(t, r, perfdata.TypeSample); rec.Err != nil || !slices.Equal(rec.Body.(*perfdata.Sample).Callchain, []uint64{0x1000}) {
			t.Errorf("format %d: %+v, %v", test.format, rec.Body, rec.Err)
		}
		if rec := next(t, r); rec.Err == nil {
			t.Errorf("format %d: no error of a truncated sample: %+v", test.format, rec.Body)
		}
		if rec := next(t, r); test.format&group != 0 && rec.Err == nil {
			t.Errorf("format %d: no error of too many counts: %+v", test.format, rec.Body)
		}
	}
}

// TestVectorRegisters has vector registers after the others.
func TestVectorRegisters(t *testing.T) {
	for name, order := range orders {
		e := newEncoder(order).pipe(event{sampleType: perfdata.FieldUserRegs | perfdata.FieldUserStack, regsUser: 1 << 8})
		e.record(perfdata.TypeSample, 0, func() {
			e.u64(2|4, 0x1000)
			e.u16(2, 4, 1, 1) // two of four words, one of one
			e.u64(1, 2, 3, 4, 5, 6, 7, 8, 9)
			e.u64(8)
			e.b = append(e.b, "stackxxx"...)
			e.u64(5)
		})
		// A word is missing.
		e.record(perfdata.TypeSample, 0, func() {
			e.u64(2|4, 0x1000)
			e.u16(2, 4, 0xffff, 0xffff)
			e.u64(1, 2, 3, 4, 5, 6, 7, 8, 9)
		})
		r := open(t, e.b)
		rec := next(t, r, perfdata.TypeSample)
		if s := rec.Body.(*perfdata.Sample); rec.Err != nil || s.UserRegs.ABI != perfdata.ABI64 || !slices.Equal(s.UserRegs.Values, []uint64{0x1000}) || string(s.UserStack) != "stack" {
			t.Errorf("%s: %+v %v", name, s, rec.Err)
		}
		if rec := next(t, r); rec.Err == nil || rec.Body.(*perfdata.Sample).Fields != 0 {
			t.Errorf("%s: %+v", name, rec.Body)
		}
	}
}

// TestEvents distinguishes events by the ID at all places of a record.
func TestEvents(t *testing.T) {
	for name, sampleType := range map[string]perfdata.SampleType{
		"identifier": perfdata.FieldIdentifier | perfdata.FieldIP | perfdata.FieldTime,
		"id":         perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldID | perfdata.FieldCPU,
	} {
		t.Run(name, func(t *testing.T) {
			first := event{sampleType: sampleType, flags: idAll, ids: []uint64{5, 6}}
			// After the common fields, events can differ.
			second := event{sampleType: sampleType | perfdata.FieldPeriod, flags: idAll, ids: []uint64{7}}
			e := newEncoder(binary.LittleEndian).pipe(first, second)
			sample := func(id uint64, period ...uint64) {
				e.record(perfdata.TypeSample, 0, func() {
					if name == "identifier" {
						e.u64(id, 0x1000, 50)
					} else {
						e.u64(0x1000)
						e.u32(1, 2)
						e.u64(50, id, 3)
					}
					e.u64(period...)
				})
			}
			sample(6)
			sample(7, 1234)
			sample(5)
			sample(99)
			e.record(perfdata.TypeComm, 0, func() {
				e.u32(1, 2)
				e.text("name")
				if name == "identifier" {
					e.u64(60, 7)
				} else {
					e.u32(1, 2)
					e.u64(60, 7, 3)
				}
			})
			r := open(t, e.b)
			for i, want := range []struct {
				attribute int
				period    uint64
			}{{0, 4000}, {1, 1234}, {0, 4000}} {
				rec := next(t, r, perfdata.TypeSample)
				if s := rec.Body.(*perfdata.Sample); rec.Err != nil || rec.ID.Attribute != want.attribute || s.Period != want.period || s.IP != 0x1000 || rec.ID.Time != 50 {
					t.Errorf("sample %d: %+v %+v %v, want %+v", i, rec.ID, s, rec.Err, want)
				}
			}
			rec := next(t, r)
			if s := rec.Body.(*perfdata.Sample); rec.ID.Attribute != -1 || rec.Err == nil || !strings.Contains(rec.Err.Error(), "ID 99") || s.IP != 0x1000 {
				t.Errorf("%+v %v", rec.ID, rec.Err)
			}
			rec = next(t, r)
			if c := rec.Body.(*perfdata.Comm); rec.Err != nil || rec.ID.Attribute != 1 || rec.ID.Time != 60 || string(c.Name) != "name" {
				t.Errorf("%+v %q %v", rec.ID, c.Name, rec.Err)
			}
		})
	}
}
