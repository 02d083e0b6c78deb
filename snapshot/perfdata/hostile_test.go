// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// seeds are small recordings of all kinds.
func seeds(t testing.TB) map[string][]byte {
	list := make(map[string][]byte)
	for name, order := range orders {
		p := newEncoder(order).pipe(allFields, allFields)
		for _, test := range recordTests {
			p.record(test.t, test.misc, func() { test.write(p); p.u64(1, 2, 3, 4, 5, 6) })
		}
		for range 3 {
			p.record(perfdata.TypeSample, 2, func() { writeAllFields(p) })
			p.record(perfdata.TypeFinishedRound, 0, nil)
		}
		for f, write := range p.features() {
			p.record(perfdata.TypeHeaderFeature, 0, func() { p.u64(uint64(f)); write() })
		}
		list["pipe "+name] = p.b
		records := newEncoder(order)
		for i := range uint64(20) {
			records.sampleAt(i, 100-i)
		}
		e := newEncoder(order)
		list["file "+name] = e.file(records.b, e.features(), timed)
	}
	for _, kind := range []perfdata.Type{perfdata.TypeCompressed, perfdata.TypeCompressed2} {
		e := newEncoder(orders["little"]).pipe(timed)
		p := newPacker(t)
		for i := range 3 {
			content := p.pack(t, samples(1+30*i, 30).b)
			e.record(kind, 0, func() {
				if kind == perfdata.TypeCompressed2 {
					e.u64(uint64(len(content)))
				}
				e.b = append(e.b, content...)
			})
			e.record(perfdata.TypeFinishedRound, 0, nil)
		}
		list[kind.String()] = e.b
	}
	return list
}

// readAll reads a recording in all ways and checks the invariants of all recordings.
func readAll(t testing.TB, b []byte) {
	stream, err := perfdata.NewReader(stream(b))
	file, fileErr := perfdata.NewReader(readerAt(b))
	mapped, mappedErr := perfdata.NewReader(mapped(t, b))
	if (err == nil) != (fileErr == nil) || (err == nil) != (mappedErr == nil) || (err == nil) != (stream != nil) || (err == nil) != (file != nil) || (err == nil) != (mapped != nil) {
		t.Fatalf("as a stream: %v, as a file: %v, mapped: %v", err, fileErr, mappedErr)
	}
	if err != nil {
		return
	}
	for _, r := range []*perfdata.Reader{stream, file, mapped} {
		var regs unwind.Registers
		records, invalid, late := int64(0), int64(0), int64(0)
		newest := uint64(0)
		err := drain(r, func(rec *perfdata.Record) {
			records++
			if rec.Err != nil {
				invalid++
			}
			if time := rec.ID.Time; rec.Type < 64 && time != 0 && time != 1<<64-1 && rec.ID.Fields&perfdata.FieldTime != 0 {
				if time < newest {
					late++
				}
				newest = max(newest, time)
			}
			if rec.ID.Attribute >= len(r.Attributes()) || rec.ID.Attribute < -1 {
				t.Fatalf("event %d of %d", rec.ID.Attribute, len(r.Attributes()))
			}
			if len(rec.Raw) < 8 {
				t.Fatalf("record of %d bytes", len(rec.Raw))
			}
			if s, ok := rec.Body.(*perfdata.Sample); ok {
				set := &s.UserRegs
				if n := len(set.Values); set.ABI != perfdata.ABINone && s.Fields&perfdata.FieldUserRegs != 0 && n > 64 {
					t.Fatalf("%d registers", n)
				}
				if m := set.Registers(arch.Lookup(62, 2, 1), &regs); m != nil && set.Mask == 0 {
					t.Fatal("registers of nothing")
				}
			}
		})
		if err == nil {
			t.Fatal("no end")
		}
		if _, repeated := r.Next(); repeated != err {
			t.Fatalf("%v, then %v", err, repeated)
		}
		if c := r.Counts(); c.Records != records || c.Invalid != invalid {
			t.Fatalf("%d records, %d invalid, %d late; %+v", records, invalid, late, c)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		readAll(t, b)
	})
}

// TestMutations reads recordings in which some bytes are changed.
func TestMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for name, b := range seeds(t) {
		t.Run(name, func(t *testing.T) { mutate(t, b, random, 150) })
	}
}

func mutate(t *testing.T, b []byte, random *rand.Rand, times int) {
	values := []byte{0, 1, 8, 9, 0x7f, 0x80, 0xff}
	for range times {
		m := append([]byte(nil), b...)
		for range 1 + random.IntN(4) {
			// Bytes at the beginning, where sizes and offsets are, change more often.
			n := len(m)
			if random.IntN(2) == 0 {
				n = min(n, 512)
			}
			m[random.IntN(n)] = values[random.IntN(len(values))]
		}
		if random.IntN(4) == 0 {
			m = m[:random.IntN(len(m))]
		}
		readAll(t, m)
	}
}

// TestMemory has small recordings that request much memory.
func TestMemory(t *testing.T) {
	frame := func(descriptor ...byte) []byte {
		// A frame header with a large window, and a block of 128 KiB of zeros (RFC 8878).
		return append(append([]byte("\x28\xb5\x2f\xfd"), descriptor...), 0x02, 0x00, 0x10, 0x00)
	}
	for name, content := range map[string][]byte{
		"window of 128 MiB": frame(0x00, 17<<3),
		"window of 1 TiB":   frame(0x00, 30<<3),
	} {
		e := newEncoder(orders["little"]).pipe(timed)
		e.record(perfdata.TypeCompressed, 0, func() { e.b = append(e.b, content...) })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(t, e.b)
		runtime.ReadMemStats(&after)
		// For three readers. perf record -z22 needs a window of 128 MiB for a recording of any
		// length. Nothing else can make a Reader that large.
		if n := after.TotalAlloc - before.TotalAlloc; n > 3*(128<<20+4<<20) {
			t.Errorf("%s: %d MiB", name, n>>20)
		}
	}
	// Attributes with their IDs in the same part of the file.
	e := newEncoder(orders["little"])
	many := make([]event, 1000)
	many[0].ids = make([]uint64, 5000)
	b := e.file(nil, nil, many...)
	for i := range many {
		at := 104 + i*136 + 120
		copy(b[at:], e.AppendUint64(e.AppendUint64(nil, 104+1000*136), 8*5000))
	}
	if _, err := perfdata.NewReader(readerAt(b)); err == nil {
		t.Error("no error")
	}
}
