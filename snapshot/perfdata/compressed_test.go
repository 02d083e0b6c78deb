// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// packer compresses as perf record -z does: one stream, flushed after each
// record, never ended.
type packer struct {
	strings.Builder
	w *zstd.Encoder
}

func newPacker(t testing.TB) *packer {
	p := &packer{}
	w, err := zstd.NewWriter(&p.Builder, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	p.w = w
	return p
}

func (p *packer) pack(t testing.TB, b []byte) string {
	p.Reset()
	if _, err := p.w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	return p.String()
}

// samples writes samples with addresses and times from first on.
func samples(first, n int) *encoder {
	e := newEncoder(orders["little"])
	for i := range n {
		e.sampleAt(uint64(first+i), uint64(first+i))
	}
	return e
}

// count returns the addresses from 1 to n.
func count(n int) (list []uint64) {
	for i := range n {
		list = append(list, uint64(i+1))
	}
	return list
}

func TestCompressed(t *testing.T) {
	for _, kind := range []perfdata.Type{perfdata.TypeCompressed, perfdata.TypeCompressed2} {
		p := newPacker(t)
		e := newEncoder(orders["little"]).pipe(timed)
		first := len(e.b)
		// The record at the seam is in two COMPRESSED records.
		all := samples(1, 9_000).b
		for _, part := range [][]byte{all[:100_003], all[100_003:100_005], all[100_005:]} {
			content := p.pack(t, part)
			e.record(kind, 0, func() {
				if kind == perfdata.TypeCompressed2 {
					e.u64(uint64(len(content)))
					content += strings.Repeat("\x00", -len(content)&7)
				}
				e.b = append(e.b, content...)
			})
			e.record(perfdata.TypeFinishedRound, 0, nil)
		}
		e.sampleAt(9_001, 9_001)
		for _, src := range []io.Reader{readerAt(e.b), stream(e.b), mapped(t, e.b)} {
			r, err := perfdata.NewReader(src)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if rec := next(t, r, perfdata.TypeFinishedRound); rec.Err != nil {
				t.Error(rec.Err)
			}
			if rec := next(t, r, perfdata.TypeSample); rec.Offset != int64(first) {
				t.Errorf("offset %#x, want %#x", rec.Offset, first)
			}
			if got := ips(t, r); !slices.Equal(got, count(9_001)[1:]) {
				t.Errorf("%v: %d samples", kind, len(got))
			}
			if c := r.Counts(); c.Invalid != 0 || c.Late != 0 {
				t.Errorf("%+v", c)
			}
		}
	}
}

// TestWrappedSize has COMPRESSED2 records as perf of Linux 6.16 writes them if their size does
// not fit 16 bits.
func TestWrappedSize(t *testing.T) {
	const most = 65519 // bytes of content of one record
	p := newPacker(t)
	for i, size := 0, most-20; size < 3*most; i, size = i+1, size+13_001 {
		garbage := []uint64{0, 5, 0xdeadbeefdeadbeef}[i%3]
		e := newEncoder(orders["little"]).pipe(timed)
		e.sampleAt(1, 1)
		// Samples that do not compress, and one with the missing part of their size.
		all := newEncoder(orders["little"])
		random := rand.New(rand.NewPCG(1, uint64(size)))
		n := 0
		var content string
		p.w.Reset(&p.Builder)
		p.Reset()
		for {
			n++
			all.b = all.b[:0]
			all.record(perfdata.TypeSample, 0, func() {
				all.u64(uint64(n + 1))
				all.u32(7, 8)
				all.u64(uint64(n + 1))
				for range min(max(0, size-len(content)-80), 8000) / 8 {
					all.u64(random.Uint64())
				}
			})
			if _, err := p.w.Write(all.b); err != nil {
				t.Fatal(err)
			}
			if err := p.w.Flush(); err != nil {
				t.Fatal(err)
			}
			if content = p.String(); len(content) >= size {
				break
			}
		}
		at := len(e.b)
		total := 16
		for i := 0; i < len(content); i += most {
			part := content[i:min(len(content), i+most)]
			start := len(e.b)
			e.record(perfdata.TypeCompressed2, 0, func() {
				e.u64(garbage) // only the first has it
				e.b = append(e.b, part...)
			})
			total = len(e.b) - at
			if i > 0 {
				e.setSize(start, 16+len(part))
			}
		}
		copy(e.b[at+8:], e.AppendUint64(nil, uint64(total-16)))
		e.setSize(at, (total+7)&^7) // of which 16 bits are kept
		if (total+7)&^7 == total && total < 1<<16 {
			t.Fatalf("%d bytes fit", total)
		}
		if total < 1<<16 && total <= 65528 {
			// It fits, and would be padded.
			e.b = append(e.b, make([]byte, -total&7)...)
		}
		e.sampleAt(uint64(n+2), uint64(n+2))
		r := open(t, e.b)
		if got := ips(t, r); !slices.Equal(got, count(n+2)) {
			t.Errorf("%d bytes: %d samples, want %d; %+v", len(content), len(got), n+2, r.Counts())
		}
	}
}

// TestInvalidCompressed has data that cannot be decompressed: the errors are reported, and
// uncompressed records and new streams are read.
func TestInvalidCompressed(t *testing.T) {
	p := newPacker(t)
	good := p.pack(t, samples(1, 50).b)
	again := newPacker(t).pack(t, samples(100, 50).b)
	broken := []byte(good)
	for i := 4; i < len(broken); i++ {
		broken[i] ^= 0xff
	}
	cut := newPacker(t)
	half := cut.pack(t, samples(1, 51).b[:50*32+5])
	noRecord := newPacker(t).pack(t, make([]byte, 64))
	for name, test := range map[string]struct {
		contents []string
		invalid  int
		samples  int
	}{
		"broken":      {[]string{string(broken), good}, 1, 52},
		"missing":     {[]string{p.pack(t, samples(50, 50).b), again}, 1, 52},
		"nothing":     {[]string{"", again}, 1, 52},
		"no zstd":     {[]string{"no zstd, but text"}, 1, 2},
		"no record":   {[]string{noRecord, again}, 1, 52},
		"half":        {[]string{half}, 0, 52},
		"other frame": {[]string{half, again}, 0, 0},
	} {
		e := newEncoder(orders["little"]).pipe(timed)
		e.sampleAt(1, 1)
		for _, content := range test.contents {
			e.record(perfdata.TypeCompressed, 0, func() { e.b = append(e.b, content...) })
		}
		e.sampleAt(1000, 1000)
		r := open(t, e.b)
		n := 0
		err := drain(r, func(rec *perfdata.Record) {
			if rec.Type == perfdata.TypeSample {
				n++
			}
			if rec.Err != nil && rec.Type != perfdata.TypeCompressed {
				t.Errorf("%s: %v", name, rec.Err)
			}
		})
		if name == "other frame" {
			continue // an error or records: half of a record is continued by another
		}
		if c := r.Counts(); int(c.Invalid) != test.invalid || n != test.samples {
			t.Errorf("%s: %d samples, want %d; %+v, want %d invalid", name, n, test.samples, c, test.invalid)
		}
		if half := name == "half"; half != errors.Is(err, io.ErrUnexpectedEOF) || !half && err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}
