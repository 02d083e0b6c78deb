// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkPublish publishes and withdraws a batch.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var at []int
			for i := range n {
				at = append(at, i)
			}
			c := leaves(b, textMemory(b, 32*n), "b", at...)
			b.ReportAllocs()
			for b.Loop() {
				if err := publish(b, c).Withdraw(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFind looks a function up while other batches are published.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := textMemory(b, 1024*n)
			for i := range n {
				r := publish(b, leaves(b, text, "b", 32*i))
				defer r.Withdraw()
			}
			address := leaves(b, text, "b", 0).Address // first in, last in the list
			for b.Loop() {
				if runtime.FuncForPC(uintptr(address)) == nil {
					b.Fatal("not found")
				}
			}
		})
	}
}
