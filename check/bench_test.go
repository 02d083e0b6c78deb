// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"path/filepath"
	"testing"

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
