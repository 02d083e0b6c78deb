// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clewdev/clew/object"
)

// FuzzLink links damaged files. The result is an error, or a program with readable images and
// memory of the declared size.
func FuzzLink(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.o")
	if err != nil || len(seeds) < 4 {
		f.Fatalf("seeds: %q, %v", seeds, err)
	}
	for _, path := range seeds {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint16(0), uint64(0))
		f.Add(data, uint16(40), uint64(1<<40))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, patch uint64) {
		if len(data) >= int(at)+8 {
			data = bytes.Clone(data)
			order.PutUint64(data[at:], order.Uint64(data[at:])^patch)
		}
		hostile(t, data)
	})
}

// hostile links a file, alone and with itself.
func hostile(t *testing.T, data []byte) {
	t.Helper()
	for _, m := range machines {
		for n := 1; n <= 2; n++ {
			list := make([]*object.File, n)
			for i := range list {
				file, err := object.NewFile(data, "fuzz.o")
				if err != nil {
					return
				}
				list[i] = file
			}
			l := newLinker(m, farAway, func(string) (uint64, bool) { return 0x1234, true })
			p, err := l.link(list)
			if (err == nil) != (p != nil) {
				t.Fatalf("program %v, error %v", p, err)
			}
			if err != nil {
				continue
			}
			for i := range l.regions {
				for _, s := range l.regions[i].sections {
					if uint64(len(s.data)) > s.size || s.offset < l.regions[i].start || s.offset+s.size > l.regions[i].end || l.regions[i].end > l.size {
						t.Fatalf("section %s at %#x with %#x of %#x bytes, region %#x to %#x of %#x", s.name, s.offset, len(s.data), s.size, l.regions[i].start, l.regions[i].end, l.size)
					}
				}
			}
			if p.TLS != nil && uint64(len(p.TLS.Image)) > p.TLS.Size {
				t.Fatalf("template of %d bytes in %d", len(p.TLS.Image), p.TLS.Size)
			}
			for _, o := range p.Objects {
				image, err := object.NewFile(o.ELF, o.Name)
				if err != nil {
					t.Fatal(err)
				}
				for range image.Symbols() {
				}
				for _, r := range o.Text {
					image.Locate(r.Start)
				}
			}
		}
	}
}

// TestDamage damages each byte of small files, and single bits of larger ones.
func TestDamage(t *testing.T) {
	seeds, err := filepath.Glob("testdata/*.o")
	if err != nil || len(seeds) < 4 {
		t.Fatalf("seeds: %q, %v", seeds, err)
	}
	most := 600 // places in a file
	if testing.Short() && native == &arm64 {
		most = 60 // emulation is slow
	}
	for _, path := range seeds {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(data)/most
		for at := 0; at < len(data); at += step {
			for _, v := range []byte{0xff, 0x80, 1} {
				data[at] ^= v
				hostile(t, data)
				data[at] ^= v
			}
		}
		for size := 0; size < len(data); size += 1 + len(data)/100 {
			hostile(t, data[:size])
		}
	}
}

// TestMemory loads files with large sizes, or with many references to the same bytes. They cost
// at most sixteen times their size and 64 MiB.
func TestMemory(t *testing.T) {
	// A file with equal section headers.
	many := func(n int, h func(b []byte)) []byte {
		content := make([]byte, 1<<20)
		b := make([]byte, 64, 64+len(content)+64*n)
		copy(b, "\x7fELF\x02\x01\x01")
		order.PutUint16(b[16:], 1)
		order.PutUint16(b[18:], 62)
		order.PutUint64(b[40:], uint64(64+len(content)))
		order.PutUint16(b[52:], 64)
		order.PutUint16(b[58:], 64)
		order.PutUint16(b[60:], uint16(n))
		b = append(b, content...)
		for i := range n {
			s := make([]byte, 64)
			if i > 0 {
				order.PutUint64(s[24:], 64)
				order.PutUint64(s[32:], uint64(len(content)))
				order.PutUint64(s[48:], 1)
				h(s)
			}
			b = append(b, s...)
		}
		return b
	}
	for name, data := range map[string][]byte{
		"overlapping content":     many(2000, func(b []byte) { order.PutUint32(b[4:], 1); order.PutUint64(b[8:], 2) }),
		"overlapping debugging":   many(2000, func(b []byte) { order.PutUint32(b[4:], 1) }),
		"overlapping relocations": many(2000, func(b []byte) { order.PutUint32(b[4:], 4); order.PutUint32(b[44:], 1) }),
		"overlapping groups":      many(2000, func(b []byte) { order.PutUint32(b[4:], 17) }),
		"symbol tables":           many(2000, func(b []byte) { order.PutUint32(b[4:], 2) }),
		"large zeros":             many(2000, func(b []byte) { order.PutUint32(b[4:], 8); order.PutUint64(b[8:], 3); order.PutUint64(b[32:], 1<<40) }),
		"compressed":              many(2000, func(b []byte) { order.PutUint32(b[4:], 1); order.PutUint64(b[8:], 0x800) }),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			hostile(t, data)
			runtime.ReadMemStats(&after)
			// For two machines, the file alone and linked with itself: six files.
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(6*(16*len(data)+64<<20)); got > most {
				t.Errorf("%d bytes allocated, at most %d expected", got, most)
			}
		})
	}
}
