// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// The lists of a header are bounded, in sections of a file and in records of a stream,
// and the header says so.
func TestHeaderLimits(t *testing.T) {
	const listed, buildIDs, events = 1 << 16, 1 << 17, 1 << 14
	words := func(e *encoder, n, each int) func() {
		return func() {
			e.u32(uint32(n))
			e.u32(make([]uint32, n*each)...)
		}
	}
	buildID := func(e *encoder) {
		e.record(67, 2, func() {
			e.u32(make([]uint32, 7)...)
			e.text("/bin")
		})
	}
	for _, test := range []struct {
		damage  string
		section int
		write   func(e *encoder) func()
		length  func(r *perfdata.Reader) int
		most    int
	}{
		{"more than 65536 arguments", 11, func(e *encoder) func() { return words(e, listed+5, 1) },
			func(r *perfdata.Reader) int { return len(r.Header().CommandLine) }, listed},
		{"more than 131072 build IDs", 2, func(e *encoder) func() {
			return func() {
				for range buildIDs + 5 {
					buildID(e)
				}
			}
		}, func(r *perfdata.Reader) int { return len(r.BuildIDs()) }, buildIDs},
	} {
		e := newEncoder(orders["little"])
		records := newEncoder(orders["little"])
		records.sampleAt(1, 1)
		r, err := perfdata.NewReader(readerAt(e.file(records.b, map[int]func(){test.section: test.write(e)}, timed)))
		if err != nil {
			t.Fatal(err)
		}
		if damage := r.Header().Damage; test.length(r) != test.most || damage == nil || !strings.Contains(damage.Error(), test.damage) {
			t.Errorf("%d entries, %v; expected %d, %q", test.length(r), damage, test.most, test.damage)
		}
		r.Close()
	}

	p := newEncoder(orders["little"]).pipe(slices.Repeat([]event{timed}, events+5)...)
	for range 3 {
		p.record(perfdata.TypeHeaderFeature, 0, func() {
			p.u64(11)
			p.u32(2)
			p.str("perf")
			p.str("record")
		})
	}
	for range buildIDs + 5 {
		buildID(p)
	}
	r, err := perfdata.NewReader(stream(p.b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	refused := 0
	drain(r, func(rec *perfdata.Record) {
		if rec.Err != nil && strings.Contains(rec.Err.Error(), "more than 16384 events") {
			refused++
		}
	})
	if n := len(r.Attributes()); n != events || refused != 5 {
		t.Errorf("%d events, and %d refused", n, refused)
	}
	if h := r.Header(); !slices.Equal(h.CommandLine, []string{"perf", "record"}) || len(r.BuildIDs()) != buildIDs || h.Damage == nil {
		t.Errorf("%q, %d build IDs, %v", h.CommandLine, len(r.BuildIDs()), h.Damage)
	}
}
