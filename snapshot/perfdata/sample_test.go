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

// allFields is an event with samples that have every field. A sample has only one of the two
// weight fields.
var allFields = event{
	sampleType: 1<<25 - 1&^perfdata.FieldWeight,
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
	if e.AppendByteOrder == binary.BigEndian {
		// mispredicted, 5 cycles of 16 bits, type 3 of 4, in the order of bit fields.
		e.u64(1<<63 | 5<<44 | 3<<40)
	} else {
		e.u64(1 | 5<<4 | 3<<20)
	}
	e.u64(0x55)                          // counters
	e.u64(2, 0xaa, 0x7ffff000, 0x401000) // user registers
	e.u64(16)                            // stack
	e.b = append(e.b, "stack…xxxxxxxx"...)
	e.u64(8)
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

var wantAllFields = perfdata.Sample{
	Fields: allFields.sampleType,
	IP:     0x401000, Addr: 0x7fff0010, Period: 250000,
	Read:           perfdata.ReadValues{Values: []perfdata.ReadValue{{5, 11, 0}, {6, 12, 1}}, Enabled: 900, Running: 800},
	Callchain:      []uint64{perfdata.ContextUser, 0x401000, 0x402000},
	Raw:            []byte("raw bytes…"),
	Branches:       []perfdata.Branch{{0x1000, 0x2000, 1 | 5<<4 | 3<<20}},
	BranchHWIndex:  9,
	BranchCounters: []uint64{0x55},
	UserRegs:       perfdata.RegisterSet{ABI: perfdata.ABI64, Mask: 1<<0 | 1<<7 | 1<<8, Values: []uint64{0xaa, 0x7ffff000, 0x401000}},
	IntrRegs:       perfdata.RegisterSet{ABI: perfdata.ABI32, Mask: 1 << 8, Values: []uint64{0x8048000}},
	UserStack:      []byte("stack…"),
	Weight:         5, Weight2: 6, Weight3: 7,
	DataSource: 0x1e05080021, Transaction: 0x10, PhysAddr: 0x1234000, Cgroup: 99,
	DataPageSize: 4096, CodePageSize: 2 << 20,
	Aux: []byte("aux data"),
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
			if rec.Misc.Mode() != perfdata.ModeUser || rec.Misc&perfdata.MiscExactIP == 0 {
				t.Errorf("misc %#x", rec.Misc)
			}
			a := r.Attributes()[0]
			if a.Flags != allFields.flags || a.MaxStack != 127 || !slices.Equal(a.IDs, allFields.ids) || a.Name != "cpu-clock" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestCutSample truncates the sample at all places: the fields before are read.
func TestCutSample(t *testing.T) {
	e := newEncoder(binary.LittleEndian)
	writeAllFields(e)
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
		if s.Fields&fields != fields || s.Fields == allFields.sampleType {
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
	if fields|perfdata.FieldAux != allFields.sampleType {
		t.Errorf("fields %#x of the longest", fields)
	}
}

var fieldOf = map[string]perfdata.SampleType{
	"IP": perfdata.FieldIP, "Addr": perfdata.FieldAddr, "Period": perfdata.FieldPeriod,
	"Read": perfdata.FieldRead, "Callchain": perfdata.FieldCallchain, "Raw": perfdata.FieldRaw,
	"Branches": perfdata.FieldBranchStack, "UserRegs": perfdata.FieldUserRegs,
	"IntrRegs": perfdata.FieldIntrRegs, "UserStack": perfdata.FieldUserStack,
	"Weight": perfdata.FieldWeightStruct, "DataSource": perfdata.FieldDataSource,
	"Transaction": perfdata.FieldTransaction, "PhysAddr": perfdata.FieldPhysAddr,
	"Cgroup": perfdata.FieldCgroup, "DataPageSize": perfdata.FieldDataPageSize,
	"CodePageSize": perfdata.FieldCodePageSize,
}

func TestReadFormats(t *testing.T) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	for _, test := range []struct {
		format uint64
		words  []uint64
		want   perfdata.ReadValues
	}{
		{0, []uint64{5}, perfdata.ReadValues{Values: []perfdata.ReadValue{{Value: 5}}}},
		{id, []uint64{5, 1}, perfdata.ReadValues{Values: []perfdata.ReadValue{{5, 1, 0}}}},
		{enabled | running | id | lost, []uint64{5, 90, 80, 1, 2}, perfdata.ReadValues{Values: []perfdata.ReadValue{{5, 1, 2}}, Enabled: 90, Running: 80}},
		{group, []uint64{2, 5, 6}, perfdata.ReadValues{Values: []perfdata.ReadValue{{Value: 5}, {Value: 6}}}},
		{group | running | lost, []uint64{2, 80, 5, 1, 6, 2}, perfdata.ReadValues{Values: []perfdata.ReadValue{{5, 0, 1}, {6, 0, 2}}, Running: 80}},
		{group | id, []uint64{0}, perfdata.ReadValues{}},
	} {
		e := newEncoder(binary.LittleEndian).pipe(event{sampleType: perfdata.FieldRead, readFormat: test.format})
		e.record(perfdata.TypeSample, 0, func() { e.u64(test.words...) })
		e.record(perfdata.TypeRead, 0, func() { e.u32(1, 2); e.u64(test.words...) })
		// One word is missing.
		e.record(perfdata.TypeSample, 0, func() { e.u64(test.words[1:]...) })
		r := open(t, e.b)
		if rec := next(t, r, perfdata.TypeSample); rec.Err != nil || !reflect.DeepEqual(rec.Body.(*perfdata.Sample).Read, test.want) {
			t.Errorf("format %d: %+v, %v, want %+v", test.format, rec.Body, rec.Err, test.want)
		}
		if rec := next(t, r); rec.Err != nil || !reflect.DeepEqual(rec.Body, &perfdata.Read{PID: 1, TID: 2, Values: test.want}) {
			t.Errorf("format %d: %+v, %v, want %+v", test.format, rec.Body, rec.Err, test.want)
		}
		if rec := next(t, r); rec.Err == nil {
			t.Errorf("format %d: no error of a sample that is cut: %+v", test.format, rec.Body)
		}
	}
}

// TestVectorRegisters has vector registers after the others.
func TestVectorRegisters(t *testing.T) {
	for name, order := range orders {
		e := newEncoder(order).pipe(event{sampleType: perfdata.FieldUserRegs | perfdata.FieldTransaction, regsUser: 1 << 8})
		e.record(perfdata.TypeSample, 0, func() {
			e.u64(2|4, 0x1000)
			e.u16(2, 4, 1, 1) // two of four words, one of one
			e.u64(1, 2, 3, 4, 5, 6, 7, 8, 9)
			e.u64(77)
		})
		// A word is missing.
		e.record(perfdata.TypeSample, 0, func() {
			e.u64(2|4, 0x1000)
			e.u16(2, 4, 0xffff, 0xffff)
			e.u64(1, 2, 3, 4, 5, 6, 7, 8, 9)
		})
		r := open(t, e.b)
		rec := next(t, r, perfdata.TypeSample)
		if s := rec.Body.(*perfdata.Sample); rec.Err != nil || s.UserRegs.ABI != perfdata.ABI64 || !slices.Equal(s.UserRegs.Values, []uint64{0x1000}) || s.Transaction != 77 {
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
