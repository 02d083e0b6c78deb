// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact_test

import (
	"testing"

	"github.com/clewdev/clew/cgotraceback/internal/compact"
	"github.com/clewdev/clew/object"
)

func BenchmarkUnwind(b *testing.B) {
	f, err := object.Open("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1")
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		s, err := f.EHFrame()
		if err != nil {
			b.Fatal(err)
		}
		size = len(compact.Unwind(s, 1<<30))
	}
	b.ReportMetric(float64(size), "bytes")
}
