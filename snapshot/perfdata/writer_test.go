// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// What a Writer writes, a Reader reads.
func TestWriter(t *testing.T) {
	e := newEncoder(binary.NativeEndian)
	e.attr(event{sampleType: perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldIdentifier, flags: idAll})
	attr := append(bytes.Clone(e.b), make([]byte, 8)...)
	header := perfdata.Header{
		Hostname: "host", OSRelease: "6.18", CommandLine: []string{"clew", "record", ""},
		Clock: perfdata.Clock{ID: 1, Wall: time.Unix(1, 2), Time: 3},
	}
	e.b = nil
	e.record(perfdata.TypeSample, 2, func() { e.u64(7, 0x1000); e.u32(5, 6); e.u64(9) })
	comm := perfdata.Comm{PID: 5, TID: 6, Name: []byte("a name")}
	mmaps := []perfdata.Mmap{
		{PID: 5, TID: 5, Start: 0x1000, Length: 0x2000, Offset: 0x3000, Path: []byte("/bin/true"), Major: 8, Minor: 1, Inode: 99, InodeGeneration: 3, Protection: 5, Flags: 2},
		{PID: 5, TID: 5, Start: 0x5000, Length: 0x1000, Path: []byte("/bin/data"), BuildID: []byte{1, 2, 3, 4}, Protection: 1, Flags: 2},
	}

	var b bytes.Buffer
	w := perfdata.NewWriter(&b)
	if err := errors.Join(w.Start(&header, "x86_64", "an event", 7, attr), w.Comm(&comm), w.Mmap(&mmaps[0]), w.Mmap(&mmaps[1]), w.Kernel(e.b), w.Round()); err != nil {
		t.Fatal(err)
	}
	r, err := perfdata.NewReader(io.MultiReader(&b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var gotMmaps []perfdata.Mmap
	samples := 0
	if err := drain(r, func(rec *perfdata.Record) {
		if rec.Err != nil {
			t.Error(rec.Err)
		}
		switch body := rec.Body.(type) {
		case *perfdata.Comm:
			if body.PID != comm.PID || body.TID != comm.TID || string(body.Name) != string(comm.Name) || rec.ID.TID != comm.TID {
				t.Errorf("%+v, %+v", body, rec.ID)
			}
		case *perfdata.Mmap:
			if data := rec.Misc&perfdata.MiscMmapData != 0; data != (body.Protection&4 == 0) {
				t.Errorf("misc is %#x of a mapping with protection %d", rec.Misc, body.Protection)
			}
			m := *body
			m.Path, m.BuildID = bytes.Clone(m.Path), bytes.Clone(m.BuildID)
			gotMmaps = append(gotMmaps, m)
		case *perfdata.Sample:
			samples++
			if body.IP != 0x1000 || rec.ID.PID != 5 || rec.ID.TID != 6 || rec.ID.Time != 9 || rec.ID.ID != 7 {
				t.Errorf("%+v, %+v", body, rec.ID)
			}
		}
	}); err != io.EOF {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotMmaps, mmaps) {
		t.Errorf("%+v, expected %+v", gotMmaps, mmaps)
	}
	if samples != 1 || !reflect.DeepEqual(*r.Header(), header) || r.Machine() == nil || r.Machine().Name != "x86-64" {
		t.Errorf("%d samples, %+v, expected %+v; machine %v", samples, *r.Header(), header, r.Machine())
	}
	if a := r.Attributes(); len(a) != 1 || a[0].Name != "an event" {
		t.Errorf("%+v", a)
	}
}

// A Reader reads the samples and the records with a time of a Writer.
func TestWriterSamples(t *testing.T) {
	e := newEncoder(binary.NativeEndian)
	e.attr(event{sampleType: perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldCPU | perfdata.FieldPeriod |
		perfdata.FieldCallchain | perfdata.FieldUserRegs | perfdata.FieldUserStack | perfdata.FieldIdentifier, flags: idAll, regsUser: 0b101})
	attr := append(bytes.Clone(e.b), make([]byte, 8)...)
	id := perfdata.SampleID{PID: 5, TID: 6, Time: 30, ID: 7, CPU: 2}
	samples := []perfdata.Sample{
		{IP: 0x1000, Period: 11, Callchain: []uint64{1, 2}, UserRegs: perfdata.RegisterSet{ABI: perfdata.ABI64, Mask: 0b101, Values: []uint64{3, 4}}, UserStack: []byte("a stack.")},
		{IP: 0x2000, Period: 12},
	}
	var b bytes.Buffer
	w := perfdata.NewWriter(&b)
	err := w.Start(new(perfdata.Header), "x86_64", "an event", 7, attr)
	w.Time = 20
	err = errors.Join(err, w.Exec(&perfdata.Comm{PID: 5, TID: 5, Name: []byte("new")}))
	for i := range samples {
		err = errors.Join(err, w.Sample(&id, &samples[i]))
	}
	w.Time = 40
	if err := errors.Join(err, w.Exit(5, 6), w.Round()); err != nil {
		t.Fatal(err)
	}
	r, err := perfdata.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var times []uint64
	if err := drain(r, func(rec *perfdata.Record) {
		if rec.Err != nil {
			t.Error(rec.Err)
		}
		times = append(times, rec.ID.Time)
		switch body := rec.Body.(type) {
		case *perfdata.Comm:
			if rec.Misc&perfdata.MiscCommExec == 0 {
				t.Errorf("misc of an exec is %#x", rec.Misc)
			}
		case *perfdata.Task:
			if rec.Type != perfdata.TypeExit || *body != (perfdata.Task{PID: 5, ParentPID: 5, TID: 6, ParentTID: 6, Time: 40}) {
				t.Errorf("%v %+v", rec.Type, *body)
			}
		case *perfdata.Sample:
			want, got := &samples[0], *body
			samples = samples[1:]
			got.Fields = 0
			if len(want.Callchain) == 0 {
				got.Callchain = nil
			}
			if len(want.UserStack) == 0 {
				got.UserStack = nil
			}
			if !reflect.DeepEqual(&got, want) || rec.ID.PID != 5 || rec.ID.TID != 6 || rec.ID.CPU != 2 || rec.ID.ID != 7 || rec.Misc.Mode() != perfdata.ModeUser {
				t.Errorf("%+v, expected %+v; %+v", got, *want, rec.ID)
			}
		}
	}); err != io.EOF {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(times[len(times)-4:], []uint64{20, 30, 30, 40}) || len(samples) > 0 {
		t.Errorf("records of the times %v, and %d samples are missing", times, len(samples))
	}
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriterErrors(t *testing.T) {
	w := perfdata.NewWriter(&failing{1})
	if err := w.Round(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Round(); err != io.ErrShortWrite {
			t.Errorf("error %v", err)
		}
	}
	w = perfdata.NewWriter(io.Discard)
	if err := w.Comm(&perfdata.Comm{Name: make([]byte, 1<<16)}); err == nil || !strings.Contains(err.Error(), "65535") {
		t.Errorf("a record of more than 64 KiB: %v", err)
	}
}
