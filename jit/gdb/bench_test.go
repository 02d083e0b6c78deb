// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"fmt"
	"testing"
	"time"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb/registry"
)

// BenchmarkPublish publishes and withdraws functions without a debugger: a hundred
// batches of a thousand, and ten thousand batches of one.
func BenchmarkPublish(b *testing.B) {
	for _, batch := range []int{1000, 1} {
		functions := 100_000
		if batch == 1 {
			functions = 10_000
		}
		for _, p := range []*Publisher{{}, {Gather: 5 * time.Millisecond}} {
			n := functions / batch
			codes := make([]*jit.Code, n)
			for i := range codes {
				codes[i] = code(1<<40+uint64(i*batch)*stride, batch)
			}
			registrations := make([]jit.Registration, n)
			name := fmt.Sprintf("batch=%d/gather=%v/", batch, p.Gather)
			timed := func(what string, publishing bool) {
				b.Run(name+what, func(b *testing.B) {
					b.ReportAllocs()
					var s Stats
					for range b.N {
						if publishing {
							b.StartTimer()
						} else {
							b.StopTimer()
						}
						for i, c := range codes {
							r, err := p.Publish(c)
							if err != nil {
								b.Fatal(err)
							}
							registrations[i] = r
						}
						p.Flush()
						b.StopTimer()
						s = p.Stats()
						if !publishing {
							b.StartTimer()
						}
						for _, r := range registrations {
							if err := r.Withdraw(); err != nil {
								b.Fatal(err)
							}
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(functions), "ns/function")
					b.ReportMetric(float64(s.Memory)/float64(s.Bytes), "memory/images")
					b.ReportMetric(float64(s.Bytes)/float64(functions), "image-B/function")
				})
			}
			timed("publish", true)
			timed("withdraw", false)
		}
	}
}

// BenchmarkWithdrawOne withdraws the functions of a batch of a thousand one by one.
func BenchmarkWithdrawOne(b *testing.B) {
	p := new(Publisher)
	c := code(1<<40, 1000)
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		r := publish(b, p, c)
		b.StartTimer()
		for i := range c.Functions {
			if err := r.WithdrawFunctions(i); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/function")
}

// BenchmarkRead reads a list of 100,000 functions.
func BenchmarkRead(b *testing.B) {
	p := new(Publisher)
	for i := range uint64(100) {
		r := publish(b, p, code(1<<40+i<<20, 1000))
		defer r.Withdraw()
	}
	b.SetBytes(int64(p.Stats().Bytes))
	b.ReportAllocs()
	for range b.N {
		lists, err := registry.Read(own(b))
		if err != nil || len(lists) != 1 {
			b.Fatal(len(lists), err)
		}
	}
}
