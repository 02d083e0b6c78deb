// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

func TestOrder(t *testing.T) {
	e := newEncoder(orders["little"]).pipe(timed)
	round := func() { e.record(perfdata.TypeFinishedRound, 0, nil) }
	for _, time := range []uint64{10, 30, 50, 20, 40} { // two processors
		e.sampleAt(time, time)
	}
	round()
	for _, time := range []uint64{55, 70, 45, 60, 60} {
		e.sampleAt(time, time)
	}
	round()
	r := open(t, e.b)
	var got []uint64
	var atRound []int
	if err := drain(r, func(rec *perfdata.Record) {
		switch rec.Type {
		case perfdata.TypeSample:
			got = append(got, rec.ID.Time)
		case perfdata.TypeFinishedRound:
			atRound = append(atRound, len(got))
		}
	}); err != io.EOF {
		t.Fatal(err)
	}
	if want := []uint64{10, 20, 30, 40, 45, 50, 55, 60, 60, 70}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// No record is returned before the end of the second round, which completes all up to 50.
	if !slices.Equal(atRound, []int{0, 0}) {
		t.Errorf("rounds after %v records", atRound)
	}
	if c := r.Counts(); c.Late != 0 {
		t.Errorf("%+v", c)
	}
}

// TestAtOnce has records without a time, or of time 0, which do not wait.
func TestAtOnce(t *testing.T) {
	e := newEncoder(orders["little"]).pipe(timed)
	e.sampleAt(1, 50)
	e.commAt("first", 0)
	e.record(perfdata.Type(73), 0, func() { e.u64(0) })
	e.sampleAt(2, 1<<64-1)
	var types []perfdata.Type
	r := open(t, e.b)
	if err := drain(r, func(rec *perfdata.Record) { types = append(types, rec.Type) }); err != io.EOF {
		t.Fatal(err)
	}
	if want := []perfdata.Type{perfdata.TypeHeaderAttr, perfdata.TypeComm, perfdata.Type(73), perfdata.TypeSample, perfdata.TypeSample}; !slices.Equal(types, want) {
		t.Errorf("%v, want %v", types, want)
	}
}

// TestTies has records with the same time: they have the order of the recording.
func TestTies(t *testing.T) {
	e := newEncoder(orders["little"]).pipe(timed)
	var want []uint64
	for i := range uint64(1000) {
		e.sampleAt(i, 1000-i/500) // the second half is older
		want = append(want, (i+500)%1000)
	}
	if got := ips(t, open(t, e.b)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// generator is a stream of samples without a finished round.
type generator struct {
	e     *encoder
	buf   []byte
	left  int
	count uint64
}

func (g *generator) Read(p []byte) (int, error) {
	if len(g.buf) == 0 {
		if g.left == 0 {
			return 0, io.EOF
		}
		g.left--
		g.e.b = g.e.b[:0]
		for range 100 {
			g.count++
			time := 1000 + g.count
			if g.count%10_000 == 0 {
				time = g.count / 10_000 // far too late
			}
			g.e.record(perfdata.TypeSample, 2, func() {
				g.e.u64(g.count)
				g.e.u32(7, 8)
				g.e.u64(time)
				g.e.b = append(g.e.b, make([]byte, 1000)...)
			})
		}
		g.buf = g.e.b
	}
	n := copy(p, g.buf)
	g.buf = g.buf[n:]
	return n, nil
}

// TestNoRounds has a recording of 200 MB without a finished round: memory stays bounded, and
// late records are counted.
func TestNoRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short")
	}
	e := newEncoder(orders["little"]).pipe(timed)
	head := slices.Clone(e.b)
	g := &generator{e: e, buf: head, left: 2000}
	r, err := perfdata.NewReader(g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var before, stats runtime.MemStats
	runtime.ReadMemStats(&before)
	samples, late := 0, int64(0)
	newest := uint64(0)
	var most int64
	if err := drain(r, func(rec *perfdata.Record) {
		if rec.Type != perfdata.TypeSample {
			return
		}
		if rec.ID.Time < newest {
			late++
		}
		newest = max(newest, rec.ID.Time)
		if samples++; samples%20_000 == 0 {
			runtime.ReadMemStats(&stats)
			most = max(most, int64(stats.HeapSys-stats.HeapReleased)-int64(before.HeapSys-before.HeapReleased))
		}
	}); err != io.EOF {
		t.Fatal(err)
	}
	// The first 20 of 2,000 late ones are in the queue together with the oldest.
	if c := r.Counts(); samples != 200_000 || c.Late != late || late == 0 || late > 20 {
		t.Errorf("%d samples, %d late, %+v", samples, late, c)
	}
	if most > 64<<20 {
		t.Errorf("%d MiB of memory", most>>20)
	}
}

// TestFolder has a recording of perf record --threads, with records of the same
// time span in three files.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	main := newEncoder(orders["big"])
	main.commAt("main", 0)
	main.sampleAt(5, 5)
	write("data", newEncoder(orders["big"]).file(main.b, nil, timed))
	for i, times := range [][]uint64{{1, 4, 7, 9}, {2, 3, 6, 8, 10}} {
		e := newEncoder(orders["big"])
		for _, time := range times {
			e.sampleAt(time, time)
		}
		write([]string{"data.0", "data.1"}[i], e.b)
	}
	r, err := perfdata.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := ips(t, r); !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("%v", got)
	}
	// One is truncated: the others are read.
	write("data.1", []byte{9, 0, 0})
	r, err = perfdata.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	if err := drain(r, func(rec *perfdata.Record) { n++ }); n != 6 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d records, %v", n, err)
	}
}
