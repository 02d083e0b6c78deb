// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// mapped is a file that a Reader maps.
func mapped(t testing.TB, b []byte) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "perf.data")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	return f
}

// long is a recording of some 5 MiB with samples of all sizes, of two processors.
func long() *encoder {
	e := newEncoder(orders["little"])
	for i := range 200 {
		for n := range uint64(2) {
			e.record(perfdata.TypeSample, 2, func() {
				e.u64(uint64(i))
				e.u32(7, 8)
				e.u64(uint64(1000*(i/20)) + 500*n + uint64(i%20))
				e.b = append(e.b, bytes.Repeat([]byte{byte(i)}, 8*(i*i*i%3000))...)
			})
		}
		if i%20 == 19 {
			e.record(perfdata.TypeFinishedRound, 0, nil)
		}
	}
	return e
}

// TestMapped reads recordings by mapping pieces and by reading: the results are equal.
func TestMapped(t *testing.T) {
	p := newPacker(t)
	packed := newEncoder(orders["little"])
	for part := range slices.Chunk(long().b, 60_000) {
		content := p.pack(t, part)
		packed.record(perfdata.TypeCompressed, 0, func() { packed.b = append(packed.b, content...) })
	}
	traced := newEncoder(orders["little"])
	for _, size := range []int{100, 3 << 20} {
		traced.sampleAt(1, 1)
		traced.record(perfdata.TypeAuxtrace, 0, func() { traced.u64(uint64(size), 0, 0); traced.u32(0, 0, 0, 0) })
		traced.b = append(traced.b, make([]byte, size)...)
	}
	for name, records := range map[string][]byte{"plain": long().b, "packed": packed.b, "traced": traced.b, "cut": long().b[:4<<20+5]} {
		b := newEncoder(orders["little"]).file(records, nil, timed)
		read := func(src io.Reader) (said []string) {
			r, err := perfdata.NewReader(src)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			err = drain(r, func(rec *perfdata.Record) {
				said = append(said, fmt.Sprintf("%v at %#x of %d bytes (%x) at %d: %v", rec.Type, rec.Offset, len(rec.Raw), crc32.ChecksumIEEE(rec.Raw), rec.ID.Time, rec.Err))
			})
			return append(said, fmt.Sprintf("%v %+v", err, r.Counts()))
		}
		got, want := read(mapped(t, b)), read(readerAt(b))
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%s: %d records, want %d; from %d on\n%q\nwant\n%q", name, len(got), len(want), i, got[i:min(len(got), i+3)], want[i:min(len(want), i+3)])
			}
		}
	}
}

// TestCutWhileRead has recordings that are truncated while they are mapped.
func TestCutWhileRead(t *testing.T) {
	p := newPacker(t)
	packed := newEncoder(orders["little"])
	// Content that does not compress: its record takes many pages.
	content := p.pack(t, long().b)
	for part := range slices.Chunk([]byte(content), 60_000) {
		packed.record(perfdata.TypeCompressed, 0, func() { packed.b = append(packed.b, part...) })
	}
	for name, records := range map[string][]byte{"plain": long().b, "packed": packed.b} {
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, newEncoder(orders["little"]).file(records, nil, timed), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := perfdata.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		next(t, r, perfdata.TypeSample)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		err = drain(r, func(*perfdata.Record) {})
		if !errors.Is(err, filemap.ErrFault) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if _, repeated := r.Next(); repeated != err {
			t.Errorf("%s: %v, then %v", name, err, repeated)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWrittenWhileRead has a recording that is overwritten while it is mapped: a record
// changes between two reads.
func TestWrittenWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf.data")
	samples := newEncoder(orders["little"])
	for i := range 10 { // they wait for each other, as the last one is the first
		samples.record(perfdata.TypeSample, 2, func() {
			samples.u64(uint64(i))
			samples.u32(7, 8)
			samples.u64(uint64(1000 - i))
		})
	}
	whole := newEncoder(orders["little"]).file(samples.b, nil, timed)
	for _, value := range []byte{0, 1, 0xff} {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := perfdata.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		next(t, r, perfdata.TypeSample)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Repeat([]byte{value}, len(whole))); err != nil {
			t.Fatal(err)
		}
		f.Close()
		err = drain(r, func(*perfdata.Record) {})
		if err == nil || !strings.Contains(err.Error(), "is written to while it is read") {
			t.Errorf("bytes of %#x: %v", value, err)
		}
		if _, repeated := r.Next(); repeated != err {
			t.Errorf("bytes of %#x: %v, then %v", value, err, repeated)
		}
		r.Close()
	}
}
