// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/table"
)

// The largest .eh_frame that Debian's compilers depend on: 95,000 functions,
// 860,000 rows.
const llvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"

func benchmarkTable(b *testing.B, printer func() table.Printer) {
	f, err := object.Open(llvm)
	if err != nil {
		b.Skip("skipped: " + llvm + " is not installed")
	}
	defer f.Close()
	sections, err := f.CFISections()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var w countingWriter
	for b.Loop() {
		l, err := table.List(sections, f, table.Selection{})
		if err != nil {
			b.Fatal(err)
		}
		w.n = 0
		if _, err := l.Write(&w, printer, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(w.n))
}

func BenchmarkTableText(b *testing.B) { benchmarkTable(b, text) }

func BenchmarkTableJSON(b *testing.B) {
	benchmarkTable(b, func() table.Printer { return &table.JSON{} })
}

func BenchmarkRawText(b *testing.B) {
	benchmarkTable(b, func() table.Printer { return &table.RawText{} })
}

// BenchmarkRowsText measures formatting rows without names, which allocates nothing.
func BenchmarkRowsText(b *testing.B) {
	f, err := object.Open(llvm)
	if err != nil {
		b.Skip("skipped: " + llvm + " is not installed")
	}
	defer f.Close()
	s, err := f.EHFrame()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var w countingWriter
	t := &table.Text{}
	for b.Loop() {
		w.n = 0
		for fde := range s.FDEs() {
			if _, err := t.Function(&w, &table.Function{FDE: fde, Symbol: "f"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(w.n))
}
