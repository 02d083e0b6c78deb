// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// llvm is the largest .eh_frame that Debian's compilers depend on.
const llvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"

func ehFrame(tb testing.TB, path string) *cfi.Section {
	tb.Helper()
	f, err := elf.Open(path)
	if err != nil {
		tb.Skipf("skipped: %s is not installed", path)
	}
	defer f.Close()
	s := f.Section(".eh_frame")
	if s == nil {
		tb.Fatalf("%s has no .eh_frame", path)
	}
	data, err := s.Data()
	if err != nil {
		tb.Fatal(err)
	}
	return &cfi.Section{Name: s.Name, Data: data, Address: s.Addr, Machine: arch.Lookup(f.Machine, f.Class, f.Data)}
}

func ehFrameHeader(tb testing.TB, path string) *cfi.Header {
	tb.Helper()
	f, err := elf.Open(path)
	if err != nil {
		tb.Skipf("skipped: %s is not installed", path)
	}
	defer f.Close()
	s := f.Section(".eh_frame_hdr")
	data, err := s.Data()
	if err != nil {
		tb.Fatal(err)
	}
	h, err := cfi.ParseHeader(data, s.Addr, arch.Lookup(f.Machine, f.Class, f.Data))
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func BenchmarkRows(b *testing.B) {
	s := ehFrame(b, llvm)
	b.SetBytes(int64(len(s.Data)))
	b.ReportAllocs()
	var x cfi.Interpreter
	var fdes, rows int
	for b.Loop() {
		fdes, rows = 0, 0
		for f := range s.FDEs() {
			fdes++
			for range x.Rows(f) {
				rows++
			}
			if err := x.Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(fdes), "FDEs")
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
