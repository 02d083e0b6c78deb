// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// BenchmarkFile checks libraries. The bar for libLLVM is 20 µs of one processor an FDE.
func BenchmarkFile(b *testing.B) {
	for _, name := range []string{"x86_64-linux-gnu/libc.so.6", "x86_64-linux-gnu/libLLVM-14.so.1", "../aarch64-linux-gnu/lib/libstdc++.so.6"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			f, err := object.Open("/usr/lib/" + name)
			if err != nil {
				b.Skipf("skipped: %s is not installed", name)
			}
			defer f.Close()
			functions := 0
			for b.Loop() {
				r, err := File(f, Options{})
				if err != nil {
					b.Fatal(err)
				}
				functions += r.Functions
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(functions), "ns/FDE")
		})
	}
}

// BenchmarkSynthesize makes the tables of the functions of libc from their code. The bar is
// 1 MB of code a second.
func BenchmarkSynthesize(b *testing.B) {
	for _, machine := range []string{"amd64", "arm64"} {
		b.Run(machine, func(b *testing.B) {
			path := "/usr/lib/x86_64-linux-gnu/libc.so.6"
			if machine == "arm64" {
				arm64 := testprogram.Emulations["arm64"]
				path = arm64.Root() + "/lib/libc.so.6"
			}
			f, err := object.Open(path)
			if err != nil {
				b.Skipf("skipped: %s is not installed", path)
			}
			defer f.Close()
			section, err := f.EHFrame()
			if err != nil {
				b.Fatal(err)
			}
			var functions []Range
			size := uint64(0)
			for _, r := range section.Index().Ranges() {
				functions = append(functions, Range{r.Start, r.End})
				size += r.End - r.Start
			}
			s, err := NewSynthesizer(f.Machine(), Code{Memory: f}, functions)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, r := range functions {
					if _, err := s.Function(r.Start, r.End-r.Start); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
