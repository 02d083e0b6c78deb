// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// BenchmarkDump publishes and withdraws batches through a jitdump.
func BenchmarkDump(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := create(b, b.TempDir())
			c := batch(0x100000, n, 80)
			b.ReportAllocs()
			for b.Loop() {
				r, err := d.Publish(c)
				if err == nil {
					err = r.Withdraw()
				}
				if err != nil {
					b.Fatal(err)
				}
				// The disk is not part of the measurement.
				if d.size > 64<<20 {
					b.StopTimer()
					d.cut(headerSize)
					b.StartTimer()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/function")
		})
	}
}

// BenchmarkMapWriter publishes batches through a perf map.
func BenchmarkMapWriter(b *testing.B) {
	w, err := openMap(filepath.Join(b.TempDir(), "map"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	const n = 1000
	c := batch(0x100000, n, 80)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Publish(c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/function")
}

// runtimeDump writes a dump of a large runtime: functions of some hundred bytes,
// with lines and tables, in memory that is used twice.
func runtimeDump(b *testing.B, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "jit-1.dump")
	e := &Encoder{Order: binary.LittleEndian}
	e.Header(&Header{Machine: 62})
	r := rand.New(rand.NewPCG(7, 8))
	u := UnwindingInfo{EHFrame: make([]byte, 56), Header: make([]byte, 20)}
	code := make([]byte, 1024)
	address := uint64(0x7f0000000000)
	for i := range uint64(n) {
		if i == uint64(n)/2 {
			address = 0x7f0000000000
		}
		size := 64 + r.Uint64N(400)
		lines := make([]DebugEntry, r.IntN(4))
		for k := range lines {
			lines[k] = DebugEntry{Address: address + 8*uint64(k), Line: int32(k), File: "/src/module/file.wat"}
		}
		l := Load{Address: address, Index: i, Name: fmt.Sprintf("wasm[0]::function[%d]", i), Code: code[:size]}
		for _, err := range []error{e.DebugInfo(i, address, lines), e.UnwindingInfo(i, &u), e.Load(i, &l)} {
			if err != nil {
				b.Fatal(err)
			}
		}
		address += size + 96&^15
	}
	if err := os.WriteFile(path, e.Data, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkReadJitdump reads and indexes a dump of 175,000 functions. It reports the
// bytes of memory per byte of the file.
func BenchmarkReadJitdump(b *testing.B) {
	const n = 175_000
	path := runtimeDump(b, n)
	var x *Index
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		d, err := ReadJitdump(path)
		if err != nil {
			b.Fatal(err)
		}
		x = d.Index()
	}
	if len(x.Functions()) != n {
		b.Fatalf("%d functions", len(x.Functions()))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(x.dump.End), "bytes/byte")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/function")
	runtime.KeepAlive(x)
}

// BenchmarkFind looks up random addresses at random times.
func BenchmarkFind(b *testing.B) {
	d, err := ReadJitdump(runtimeDump(b, 175_000))
	if err != nil {
		b.Fatal(err)
	}
	x := d.Index()
	r := rand.New(rand.NewPCG(9, 10))
	b.ReportAllocs()
	for b.Loop() {
		f := &x.functions[r.IntN(len(x.functions))]
		if _, ok := x.Find(f.Address, f.Time); !ok {
			b.Fatal("not found")
		}
	}
}

// BenchmarkRecords reads all records of a dump.
func BenchmarkRecords(b *testing.B) {
	d, err := ReadJitdump(runtimeDump(b, 10_000))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for r := range d.Records() {
			switch r.ID {
			case CodeLoad:
				_, err = r.Load()
			case CodeDebugInfo:
				var info DebugInfo
				info, err = r.DebugInfo()
				for range info.Entries() {
				}
			case CodeUnwindingInfo:
				_, err = r.UnwindingInfo()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(d.End))
}

// BenchmarkParseMap reads a map of 100,000 symbols.
func BenchmarkParseMap(b *testing.B) {
	var data []byte
	for i := range uint64(100_000) {
		data = appendSymbol(data, 0x7f0000000000+i*112, 96, fmt.Sprintf("LazyCompile:*function%d /src/file.js:%d", i, i))
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if m := ParseMap("map", data); len(m.starts) != 100_000 {
			b.Fatal(len(m.starts))
		}
	}
}
