// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/clewdev/clew/jit"
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

// BenchmarkPublishMany publishes functions one at a time, and reports what the look-ups of
// one of them and of a function of Go take then.
func BenchmarkPublishMany(b *testing.B) {
	const n = 100_000
	orders := map[string]func(i int) int{
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return n - 1 - i },
		"random":     func(i int) int { return i * 61_681 % n },
		"one batch":  nil,
	}
	for _, order := range []string{"one batch", "ascending", "descending", "random"} {
		b.Run(order, func(b *testing.B) {
			text := textMemory(b, 256*n)
			all := make([]int, n)
			for i := range all {
				all[i] = 8 * i
			}
			whole := leaves(b, text, "b", all...)
			for b.Loop() {
				batches := []*jit.Code{whole}
				if at := orders[order]; at != nil {
					batches = batches[:0]
					for i := range n {
						c := *whole
						c.Functions = whole.Functions[at(i) : at(i)+1]
						batches = append(batches, &c)
					}
				}
				var published []jit.Registration
				start := time.Now()
				for _, c := range batches {
					published = append(published, publish(b, c))
				}
				perFunction := func(what string) {
					b.ReportMetric(float64(time.Since(start).Nanoseconds())/n, what)
				}
				perFunction("ns/publish")
				start = time.Now()
				for i := range n {
					if runtime.FuncForPC(uintptr(whole.Address)+uintptr(i*61_681%n*256)) == nil {
						b.Fatal("not found")
					}
				}
				perFunction("ns/find")
				start = time.Now()
				own := ownFunction()
				for range n {
					runtime.FuncForPC(own)
				}
				perFunction("ns/go")
				start = time.Now()
				for _, r := range published {
					if err := r.Withdraw(); err != nil {
						b.Fatal(err)
					}
				}
				perFunction("ns/withdraw")
			}
		})
	}
}
