// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// recordTests are records of all types with a body and of some others, without the SampleID at their end, and their content.
var recordTests = []struct {
	t     perfdata.Type
	misc  perfdata.Misc
	write func(e *encoder)
	want  any
	// free is how many bytes of text can be missing without an error.
	free int
}{
	{perfdata.TypeMmap, 1, func(e *encoder) {
		e.u32(0xffffffff, 0)
		e.u64(0xffffffff81000000, 0x1209988, 0xffffffff81000000)
		e.text("[kernel.kallsyms]_text")
	}, &perfdata.Mmap{PID: -1, Start: 0xffffffff81000000, Length: 0x1209988, Offset: 0xffffffff81000000, Protection: 4, Path: []byte("[kernel.kallsyms]_text")}, 24},
	{perfdata.TypeMmap, 2 | perfdata.MiscMmapData, func(e *encoder) {
		e.u32(1, 2)
		e.u64(0x1000, 0x2000, 0)
		e.text("/data")
	}, &perfdata.Mmap{PID: 1, TID: 2, Start: 0x1000, Length: 0x2000, Path: []byte("/data")}, 8},
	{perfdata.TypeMmap2, 2, func(e *encoder) {
		e.u32(1, 2)
		e.u64(0x1000, 0x2000, 0x3000)
		e.u32(254, 3)
		e.u64(247849, 9)
		e.u32(5, 2)
		e.text("/usr/bin/true")
	}, &perfdata.Mmap{PID: 1, TID: 2, Start: 0x1000, Length: 0x2000, Offset: 0x3000, Major: 254, Minor: 3, Inode: 247849, InodeGeneration: 9, Protection: 5, Flags: 2, Path: []byte("/usr/bin/true")}, 16},
	{perfdata.TypeMmap2, 2 | perfdata.MiscMmapBuildID, func(e *encoder) {
		e.u32(1, 2)
		e.u64(0x1000, 0x2000, 0x3000)
		e.u8(8)
		e.b = append(e.b, 0, 0, 0)
		e.b = append(e.b, "build-id.padding....."[:20]...)
		e.u32(5, 2)
		e.text("/usr/bin/true")
	}, &perfdata.Mmap{PID: 1, TID: 2, Start: 0x1000, Length: 0x2000, Offset: 0x3000, BuildID: []byte("build-id"), Protection: 5, Flags: 2, Path: []byte("/usr/bin/true")}, 16},
	{perfdata.TypeComm, perfdata.MiscCommExec, func(e *encoder) { e.u32(1, 2); e.text("name") }, &perfdata.Comm{PID: 1, TID: 2, Name: []byte("name")}, 8},
	{perfdata.TypeFork, 0, func(e *encoder) { e.u32(3, 1, 4, 2); e.u64(99) }, &perfdata.Task{PID: 3, ParentPID: 1, TID: 4, ParentTID: 2, Time: 99}, 0},
	{perfdata.TypeExit, 0, func(e *encoder) { e.u32(3, 1, 4, 2); e.u64(99) }, &perfdata.Task{PID: 3, ParentPID: 1, TID: 4, ParentTID: 2, Time: 99}, 0},
	{perfdata.TypeLost, 0, func(e *encoder) { e.u64(1, 409) }, &perfdata.Lost{ID: 1, Count: 409}, 0},
	{perfdata.TypeLostSamples, 0, func(e *encoder) { e.u64(21) }, &perfdata.Lost{Count: 21}, 0},
	{perfdata.TypeSwitch, 1 << 13, func(e *encoder) {}, nil, 0},
	{11, 0, func(e *encoder) { e.u64(4096, 512, 1) }, nil, 24},
	{perfdata.TypeNamespaces, 0, func(e *encoder) { e.u32(1, 2); e.u64(2, 4, 0xeffffff9, 4, 0xeffffffe) }, &perfdata.Namespaces{PID: 1, TID: 2, Links: []perfdata.Namespace{{4, 0xeffffff9}, {4, 0xeffffffe}}}, 0},
	{perfdata.TypeKsymbol, 0, func(e *encoder) { e.u64(0xffffffffc0000000); e.u32(64); e.u16(1, 1); e.text("bpf_prog_1") }, &perfdata.Ksymbol{Address: 0xffffffffc0000000, Length: 64, Kind: 1, Unregister: true, Name: []byte("bpf_prog_1")}, 16},
	{perfdata.TypeCallchainDeferred, 0, func(e *encoder) { e.u64(0xc00c1e, 2, 0x1000, 0x2000) }, &perfdata.Deferred{Cookie: 0xc00c1e, Callchain: []uint64{0x1000, 0x2000}}, 0},
	{82, 0, func(e *encoder) {}, nil, 0},
	{77, 0, func(e *encoder) { e.u64(1, 2) }, nil, 16},
	{40, 0, func(e *encoder) { e.u64(1, 2) }, nil, 16},
}

// kernels reports whether the kernel makes records of a type, which then have a
// SampleID.
func kernels(t perfdata.Type) bool { return t < 64 }

func TestRecords(t *testing.T) {
	for name, order := range orders {
		e := newEncoder(order).pipe(timed)
		for _, test := range recordTests {
			e.record(test.t, test.misc, func() {
				test.write(e)
				if kernels(test.t) {
					e.u32(70, 80)
					e.u64(0)
				}
			})
		}
		r := open(t, e.b)
		next(t, r) // the event
		for _, test := range recordTests {
			rec := next(t, r)
			if rec.Err != nil || rec.Type != test.t || rec.Misc != test.misc || !reflect.DeepEqual(rec.Body, test.want) {
				t.Errorf("%s: %v %#x %+v %v, want %v %#x %+v", name, rec.Type, rec.Misc, rec.Body, rec.Err, test.t, test.misc, test.want)
			}
			want := perfdata.SampleID{Attribute: -1}
			if kernels(test.t) {
				want = perfdata.SampleID{Fields: perfdata.FieldTID | perfdata.FieldTime, PID: 70, TID: 80}
			}
			if rec.ID != want {
				t.Errorf("%s: %v: %+v, want %+v", name, rec.Type, rec.ID, want)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Error(err)
		}
		if c := r.Counts(); c.Records != int64(len(recordTests))+1 || c.Lost != 409 || c.LostSamples != 21 || c.Unknown != 1 || c.Invalid != 0 || c.Late != 0 || c.Bytes != int64(len(e.b))-16 {
			t.Errorf("%+v", c)
		}
	}
}

// TestCutRecords has truncated records: an error, and the records after them are read.
func TestCutRecords(t *testing.T) {
	for _, test := range recordTests {
		full := newEncoder(orders["little"])
		test.write(full)
		for n := range full.b {
			e := newEncoder(orders["little"]).pipe(timed)
			e.record(test.t, test.misc, func() {
				e.b = append(e.b, full.b[:n]...)
				if kernels(test.t) {
					e.u32(70, 80)
					e.u64(0)
				}
			})
			e.sampleAt(0x1000, 5)
			r := open(t, e.b)
			rec := next(t, r, test.t)
			if cut := n < len(full.b)-test.free; cut != (rec.Err != nil) {
				t.Errorf("%v: %d bytes of %d: error %v", test.t, n, len(full.b), rec.Err)
			}
			if rec = next(t, r); rec.Type != perfdata.TypeSample || rec.Err != nil {
				t.Errorf("%v: %d bytes: then %v %v", test.t, n, rec.Type, rec.Err)
			}
		}
		if !kernels(test.t) {
			continue
		}
		// Too short for a SampleID.
		e := newEncoder(orders["little"]).pipe(timed)
		e.record(test.t, test.misc, func() { e.u32(70) })
		if rec := next(t, open(t, e.b), test.t); rec.Err == nil {
			t.Errorf("%v without a SampleID: no error", test.t)
		}
	}
}

// TestSkipped has records with trailing data that is not a record.
func TestSkipped(t *testing.T) {
	e := newEncoder(orders["little"]).pipe(timed)
	trace := len(e.b)
	e.record(perfdata.TypeAuxtrace, 0, func() { e.u64(300000, 0, 0); e.u32(0, 0, 0, 0) })
	e.b = append(e.b, make([]byte, 300000)...)
	e.sampleAt(0x1000, 1)
	e.record(perfdata.TypeHeaderTracingData, 0, func() { e.u32(24, 0) })
	e.b = append(e.b, make([]byte, 24)...)
	at := len(e.b)
	e.sampleAt(0x2000, 2)
	for _, src := range []io.Reader{readerAt(e.b), stream(e.b), mapped(t, e.b)} {
		r, err := perfdata.NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if rec := next(t, r, perfdata.TypeAuxtrace); rec.Offset != int64(trace) {
			t.Errorf("%v at %#x, want %#x", rec.Type, rec.Offset, trace)
		}
		next(t, r, perfdata.TypeSample)
		if rec := next(t, r, perfdata.TypeSample); rec.Offset != int64(at) || rec.Body.(*perfdata.Sample).IP != 0x2000 {
			t.Errorf("%#x %+v", rec.Offset, rec.Body)
		}
	}
	// The payload is truncated, or larger than any record.
	for _, size := range []uint64{1000, 1 << 40, 1 << 63, 1<<64 - 1} {
		e := newEncoder(orders["little"]).pipe(timed)
		e.sampleAt(0x1000, 1)
		e.record(perfdata.TypeAuxtrace, 0, func() { e.u64(size, 0, 0); e.u32(0, 0, 0, 0) })
		e.b = append(e.b, make([]byte, 500)...)
		for _, src := range []io.Reader{readerAt(e.b), stream(e.b), mapped(t, e.b)} {
			r, err := perfdata.NewReader(src)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var types []perfdata.Type
			if err := drain(r, func(rec *perfdata.Record) { types = append(types, rec.Type) }); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes: %v", size, err)
			}
			if want := []perfdata.Type{perfdata.TypeHeaderAttr, perfdata.TypeAuxtrace, perfdata.TypeSample}; !reflect.DeepEqual(types, want) {
				t.Errorf("%d bytes: %v, want %v", size, types, want)
			}
		}
	}
}
