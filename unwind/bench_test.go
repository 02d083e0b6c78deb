// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"debug/elf"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// llvm is the largest .eh_frame that Debian's compilers depend on.
const llvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"

func ehFrame(tb testing.TB, path string) *cfi.Section {
	tb.Helper()
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("skipped: %s is not installed", path)
	}
	s := ehFrameIn(tb, path)
	if s == nil {
		tb.Fatalf("%s has no .eh_frame", path)
	}
	return s
}

// ehFrameIn returns the .eh_frame of a file, nil if there is none.
func ehFrameIn(tb testing.TB, path string) *cfi.Section {
	tb.Helper()
	f, err := elf.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	if s == nil {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		tb.Fatal(err)
	}
	return &cfi.Section{Name: s.Name, Data: data, Address: s.Addr, Machine: arch.Lookup(f.Machine, f.Class, f.Data)}
}

func BenchmarkCompile(b *testing.B) {
	s := ehFrame(b, llvm)
	b.SetBytes(int64(len(s.Data)))
	b.ReportAllocs()
	for b.Loop() {
		t := unwind.Compile(s)
		rows, rules := t.Len()
		b.ReportMetric(float64(rows), "rows")
		b.ReportMetric(float64(rules), "rules")
	}
}

// addresses returns n random addresses that FDEs of the section cover.
func addresses(s *cfi.Section, n int) []uint64 {
	ranges := s.Index().Ranges()
	r := rand.New(rand.NewPCG(1, 2))
	pcs := make([]uint64, n)
	for i := range pcs {
		at := ranges[r.IntN(len(ranges))]
		pcs[i] = at.Start + r.Uint64N(at.End-at.Start)
	}
	return pcs
}

func BenchmarkTableLookup(b *testing.B) {
	s := ehFrame(b, llvm)
	t := unwind.Compile(s)
	pcs := addresses(s, 1<<16)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := t.Rules(pcs[i&(len(pcs)-1)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkFollow walks samples of one thread in which a few inner frames change, and the
// same sample repeatedly, with and without a trail.
func BenchmarkFollow(b *testing.B) {
	p := newProgram(b)
	r := rand.New(rand.NewPCG(1, 2))
	type sample struct {
		stack unwind.Stack
		regs  *unwind.Registers
	}
	var samples []sample
	var kinds []int
	for range 64 {
		if len(kinds) > 70 {
			kinds = kinds[:66-r.IntN(4)]
		}
		for len(kinds) < 70 {
			kinds = append(kinds, r.IntN(4)) // of plain ones
		}
		stack, regs := p.stack(rand.New(rand.NewPCG(3, 4)), kinds)
		samples = append(samples, sample{stack, regs})
		kinds = append(kinds, 0)
	}
	for _, bench := range []struct {
		name    string
		samples []sample
		forget  bool
	}{{"anew", samples[:1], true}, {"same", samples[:1], false}, {"next", samples, false}} {
		b.Run(bench.name, func(b *testing.B) {
			w := &unwind.Walker{Machine: x86, Modules: &p.modules}
			var trail unwind.Trail
			b.ReportAllocs()
			frames, kept, at := 0, 0, 0
			for b.Loop() {
				s := &bench.samples[at]
				if at++; at == len(bench.samples) {
					at = 0
				}
				if bench.forget {
					trail.Forget()
				}
				w.Stack = s.stack
				w.Follow(&trail, s.regs)
				frames += trail.Len()
				kept += trail.Kept()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
			b.ReportMetric(float64(frames)/float64(b.N), "frames")
			b.ReportMetric(float64(kept)/float64(b.N), "kept")
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	w, r := recursion(b, 70)
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		for range w.Walk(r) {
			frames++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
}
