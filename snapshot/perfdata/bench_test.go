// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"io"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// benchmarks are recordings of two processors, in rounds.
func benchmarks() map[string][]byte {
	list := make(map[string][]byte)
	for name, test := range map[string]struct {
		event  event
		sample func(e *encoder)
	}{
		"plain": {timed, func(*encoder) {}},
		"chain of 40": {event{sampleType: timed.sampleType | perfdata.FieldCallchain, flags: idAll, ids: []uint64{1}}, func(e *encoder) {
			e.u64(41, perfdata.ContextUser)
			for i := range uint64(40) {
				e.u64(0x401000 + i)
			}
		}},
		"stack of 8 KiB": {event{sampleType: timed.sampleType | perfdata.FieldCallchain | perfdata.FieldUserRegs | perfdata.FieldUserStack,
			flags: idAll, regsUser: 0xff0fff, stackUser: 8192, ids: []uint64{1}}, func(e *encoder) {
			e.u64(0, 2)
			e.u64(make([]uint64, 20)...)
			e.u64(8192)
			e.b = append(e.b, make([]byte, 8192)...)
			e.u64(8192)
		}},
	} {
		e := newEncoder(orders["little"])
		time := uint64(1000)
		for len(e.b) < 32<<20 {
			for cpu := range uint64(2) {
				for i := range uint64(200) {
					at := time + 10*i + cpu
					e.record(perfdata.TypeSample, 2, func() {
						e.u64(0x401000)
						e.u32(7, 8)
						e.u64(at)
						test.sample(e)
					})
				}
			}
			time += 2000
			e.record(perfdata.TypeFinishedRound, 0, nil)
		}
		list[name] = newEncoder(orders["little"]).file(e.b, nil, test.event)
	}
	return list
}

func BenchmarkNext(b *testing.B) {
	for name, recording := range benchmarks() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r *perfdata.Reader
			start := func() {
				var err error
				if r, err = perfdata.NewReader(readerAt(recording)); err != nil {
					b.Fatal(err)
				}
				for range 2000 { // what is allocated once
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
				}
			}
			start()
			bytes := int64(0)
			for b.Loop() {
				rec, err := r.Next()
				if err == io.EOF {
					b.StopTimer()
					r.Close()
					start()
					b.StartTimer()
					continue
				}
				if err != nil {
					b.Fatal(err)
				}
				bytes += int64(len(rec.Raw))
			}
			r.Close()
			b.ReportMetric(float64(bytes)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
}

// TestAllocations reads without allocating.
func TestAllocations(t *testing.T) {
	for name, recording := range benchmarks() {
		r := open(t, recording)
		for range 2000 {
			next(t, r)
		}
		if n := testing.AllocsPerRun(1500, func() { next(t, r) }); n != 0 {
			t.Errorf("%s: %v allocations a record", name, n)
		}
	}
}
