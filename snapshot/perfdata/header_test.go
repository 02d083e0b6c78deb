// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// features are sections of a header, by their bits in tools/perf/util/header.h.
func (e *encoder) features() map[int]func() {
	return map[int]func(){
		2: func() {
			e.record(67, 1|perfdata.MiscBuildIDSize, func() {
				e.u32(0xffffffff)
				e.b = append(e.b, "kernel-id-of-16-"...)
				e.u32(0)
				e.b = append(e.b, 16, 0, 0, 0)
				e.text("[kernel.kallsyms]")
			})
			e.record(67, 2, func() {
				e.u32(42)
				e.b = append(e.b, "build-id-of-20-bytes"...)
				e.u32(0)
				e.text("/usr/bin/true")
			})
		},
		3:  func() { e.str("host") },
		4:  func() { e.str("6.18.0") },
		5:  func() { e.str("6.1.187") },
		6:  func() { e.str("s390x") },
		7:  func() { e.u32(4, 2) },
		8:  func() { e.str("a processor") },
		9:  func() { e.str("IBM,1,2") },
		10: func() { e.u64(1024) },
		11: func() { e.u32(2); e.str("/usr/bin/perf"); e.str("record") },
		12: func() {
			e.u32(2, 120)
			e.attr(event{})
			e.u32(1)
			e.str("task-clock:u")
			e.u64(22) // the second
			e.attr(event{})
			e.u32(2)
			e.str("cpu-clock:k")
			e.u64(11, 12)
		},
		13: func() { e.u64(1) }, // not decoded
		16: func() { e.u32(2, 1); e.str("software"); e.u32(4); e.str("cpu") },
		17: func() { e.u32(1); e.str("group"); e.u32(0, 2) },
		21: func() { e.u64(100, 200) },
		23: func() { e.u64(1) },
		27: func() { e.u32(1, 1, 3, 7, 528384) },
		29: func() { e.u32(1, 1); e.u64(1_700_000_000_000_000_001, 5000) },
	}
}

var wantHeader = perfdata.Header{
	Hostname: "host", OSRelease: "6.18.0", CommandLine: []string{"/usr/bin/perf", "record"},
	Clock: perfdata.Clock{ID: 1, Wall: time.Unix(1_700_000_000, 1), Time: 5000},
}

var wantBuildIDs = []perfdata.BuildID{
	{PID: -1, Mode: perfdata.ModeKernel, Path: "[kernel.kallsyms]", ID: []byte("kernel-id-of-16-")},
	{PID: 42, Mode: perfdata.ModeUser, Path: "/usr/bin/true", ID: []byte("build-id-of-20-bytes")},
}

func TestHeader(t *testing.T) {
	first := event{sampleType: timed.sampleType | perfdata.FieldID, flags: idAll | perfdata.FlagUseClockID, clockID: 1, ids: []uint64{11, 12}}
	second := first
	second.ids = []uint64{22}
	for name, order := range orders {
		records := newEncoder(order)
		records.record(perfdata.TypeSample, 2, func() {
			records.u64(0x1000)
			records.u32(7, 8)
			records.u64(50, 22)
		})
		e := newEncoder(order)
		file := e.file(records.b, e.features(), first, second)
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		p := newEncoder(order).pipe(first, second)
		for f, write := range p.features() {
			if f == 2 {
				write() // build IDs are records of their own
				continue
			}
			p.record(perfdata.TypeHeaderFeature, 0, func() {
				p.u64(uint64(f))
				write()
			})
		}
		p.b = append(p.b, records.b...)
		for _, test := range []struct {
			name string
			open func() (*perfdata.Reader, error)
		}{
			{"file", func() (*perfdata.Reader, error) { return perfdata.Open(path) }},
			{"copied", func() (*perfdata.Reader, error) { return perfdata.NewReader(stream(file)) }},
			{"pipe", func() (*perfdata.Reader, error) { return perfdata.NewReader(stream(p.b)) }},
		} {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				t.Setenv("TMPDIR", t.TempDir())
				r, err := test.open()
				if err != nil {
					t.Fatal(err)
				}
				rec := next(t, r, perfdata.TypeSample)
				if rec.Err != nil || rec.ID.Attribute != 1 || rec.ID.Time != 50 {
					t.Errorf("%+v %v", rec.ID, rec.Err)
				}
				if got := *r.Header(); !reflect.DeepEqual(got, wantHeader) {
					t.Errorf("\n%+v, want\n%+v", got, wantHeader)
				}
				if got := r.BuildIDs(); !reflect.DeepEqual(got, wantBuildIDs) {
					t.Errorf("%+v, want %+v", got, wantBuildIDs)
				}
				a := r.Attributes()
				if len(a) != 2 || a[0].Name != "cpu-clock:k" || a[1].Name != "task-clock:u" || a[0].ClockID != 1 {
					t.Errorf("%+v", a)
				}
				// There is no little-endian s390x.
				if m := r.Machine(); m == nil || name == "big" && m.Name != "s390x" {
					t.Errorf("machine %v", m)
				}
				if r.Pipe() != (test.name == "pipe") {
					t.Errorf("pipe %v", r.Pipe())
				}
				if _, err := r.Next(); err != io.EOF {
					t.Error(err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if _, err := r.Next(); err == nil {
					t.Error("a record after Close")
				}
				if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
					t.Errorf("left files: %v", left)
				}
			})
		}
	}
}

// TestEventUpdates has records of a stream that describe events.
func TestEventUpdates(t *testing.T) {
	e := newEncoder(orders["big"]).pipe(timed)
	update := func(kind, id uint64, write func()) {
		e.record(perfdata.TypeEventUpdate, 0, func() { e.u64(kind, id); write() })
	}
	update(0, 1, func() { e.text("msec") })
	update(1, 1, func() { e.u64(0x3eb0c6f7a0b5ed8d) })
	update(2, 1, func() { e.text("cpu-clock:u") })
	update(3, 1, func() { e.u64(0) })
	update(2, 9, func() { e.text("nobody's") })
	r := open(t, e.b)
	invalid := 0
	if err := drain(r, func(rec *perfdata.Record) {
		if rec.Err != nil {
			invalid++
		}
	}); err != io.EOF || invalid != 1 {
		t.Errorf("%v, %d invalid", err, invalid)
	}
	if a := r.Attributes()[0]; a.Name != "cpu-clock:u" {
		t.Errorf("%+v", a)
	}
}

func TestNoRecording(t *testing.T) {
	e := newEncoder(orders["little"])
	file := e.file(nil, nil, timed)
	change := func(at int, words ...uint64) []byte {
		b := append([]byte(nil), file...)
		for i, v := range words {
			copy(b[at+8*i:], e.AppendUint64(nil, v))
		}
		return b
	}
	for _, test := range []struct {
		b    []byte
		want string
		cut  bool
	}{
		{nil, "it has 0 bytes, at least 16 expected", true},
		{[]byte("PERFILE2\x10"), "it has 9 bytes", true},
		{[]byte("\x7fELF............"), `it begins with "\x7fELF...."`, false},
		{[]byte("PERFFILE........"), "before Linux 3.3", false},
		{change(8, 20), "size of the header is 20", false},
		{file[:100], "header of 104 bytes", true},
		{change(16, 79), "size of an attribute is 79", false},
		{change(16, 1<<40), "size of an attribute", false},
		{change(24, 1<<40), "attributes: section of 136 bytes at 0x10000000000: the file ends at 0xf8", true},
		{change(32, 1<<63), "attributes: section", true},
		{change(104+120+8, 1<<60), "take up more than the file", false},
		{change(104+120, 1<<60), "IDs of event 0", true},
		{change(40, 1<<50), "data at", true},
	} {
		for _, src := range []io.Reader{readerAt(test.b), stream(test.b)} {
			r, err := perfdata.NewReader(src)
			if r != nil || err == nil || !strings.Contains(err.Error(), test.want) || test.cut != errors.Is(err, io.ErrUnexpectedEOF) || !test.cut && !errors.Is(err, perfdata.ErrFormat) {
				t.Errorf("%.20q: %v, want %q", test.b, err, test.want)
			}
		}
	}
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): filepath.Join(dir, "none") + ": no such file or directory",
		dir:                        dir + ": no such file or directory",
	} {
		if _, err := perfdata.Open(path); err == nil || err.Error() != want || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestUnfinished has files of a perf record that was killed, or that are truncated.
func TestUnfinished(t *testing.T) {
	e := newEncoder(orders["little"])
	file := e.file(samples(1, 50).b, e.features(), timed)
	const data = 104 + 136 + 8
	for n := data; n <= data+50*32; n += 8 {
		for _, killed := range []bool{false, true} {
			b := append([]byte(nil), file[:n]...)
			if killed {
				copy(b[48:], make([]byte, 8))
			}
			r := open(t, b)
			got := 0
			err := drain(r, func(*perfdata.Record) { got++ })
			if !errors.Is(err, io.ErrUnexpectedEOF) && !(n == data+50*32 && !killed) {
				t.Errorf("%d bytes: %v", n-data, err)
			}
			if got != (n-data)/32 {
				t.Errorf("%d bytes: %d samples; %v", n-data, got, err)
			}
		}
	}
}
