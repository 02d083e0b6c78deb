// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"io"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

// llvm has 5 MB of .eh_frame: 94,994 FDEs with 860,978 rows.
const llvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"

func benchmark(b *testing.B, mode readelf.Mode) {
	f, err := object.Open(llvm)
	if err != nil {
		b.Skip("skipped: libllvm14 is not installed")
	}
	defer f.Close()
	section, err := f.EHFrame()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(section.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := readelf.Section(io.Discard, section, mode); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRows(b *testing.B) { benchmark(b, readelf.Rows) }
func BenchmarkRaw(b *testing.B)  { benchmark(b, readelf.Raw) }
