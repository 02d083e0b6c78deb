// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"fmt"
	"testing"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

// batches are the batches of the benchmarks: functions with or without lines.
var batches = []struct {
	n     int
	lines bool
}{{1, false}, {1000, false}, {1000, true}, {10000, false}}

// BenchmarkAppend makes the image of a batch in a buffer with enough capacity.
func BenchmarkAppend(b *testing.B) {
	for _, batch := range batches {
		b.Run(fmt.Sprintf("functions=%d/lines=%t", batch.n, batch.lines), func(b *testing.B) {
			c := callers(b, amd64, batch.n, 5, batch.lines)
			var image []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if image, err = symfile.Append(image[:0], c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.n), "ns/function")
			b.ReportMetric(float64(len(image))/float64(batch.n), "image-bytes/function")
		})
	}
}

// BenchmarkMerge makes one image of 1,000 functions in 1, 10 or 1000 images.
func BenchmarkMerge(b *testing.B) {
	for _, lines := range []bool{false, true} {
		for _, n := range []int{1, 10, 1000} {
			b.Run(fmt.Sprintf("images=%d/lines=%t", n, lines), func(b *testing.B) {
				images := split(b, callers(b, amd64, 1000, 5, lines), n)
				var image []byte
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if image, err = symfile.Merge(image[:0], images, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/function")
			})
		}
	}
}

// split makes n images of the functions of a batch.
func split(tb testing.TB, c *jit.Code, n int) (images [][]byte) {
	tb.Helper()
	for i := range n {
		part := *c
		part.Functions = append([]jit.Function(nil), c.Functions[len(c.Functions)*i/n:len(c.Functions)*(i+1)/n]...)
		first, last := part.Functions[0], part.Functions[len(part.Functions)-1]
		part.Address += first.Offset
		part.Text = c.Text[first.Offset : last.Offset+last.Size]
		for k := range part.Functions {
			part.Functions[k].Offset -= first.Offset
		}
		image, err := symfile.Append(nil, &part)
		if err != nil {
			tb.Fatal(err)
		}
		images = append(images, image)
	}
	return images
}
