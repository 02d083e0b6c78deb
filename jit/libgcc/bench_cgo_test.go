// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clewdev/clew/jit"
)

// only returns the process's registry with just one of its unwinders.
func only(b *testing.B, library string) *registry {
	b.Helper()
	load(b, library)
	wanted := func(u *unwinder) bool { return (u.flavour == functionArray) == (library == "libunwind.so.1") }
	all := slices.DeleteFunc(slices.Clone(findUnwinders()), func(u *unwinder) bool { return !wanted(u) })
	return &registry{find: func() []*unwinder { return all }, memory: processMemory{}}
}

// BenchmarkUnwinder is BenchmarkPublishWithdraw with the unwinders.
func BenchmarkUnwinder(b *testing.B) {
	for _, library := range []string{"libgcc_s.so.1", "libunwind.so.1"} {
		for _, n := range []int{1, 1000, 10000} {
			b.Run(fmt.Sprint(library, "/", n), func(b *testing.B) {
				benchmark(b, only(b, library).publish, n, func(p *batch) error { return p.Withdraw() })
			})
		}
	}
}

// BenchmarkOneByOne publishes functions one by one, walks the stack through a
// few others once, and withdraws them one by one: with gathered sections, and with
// one section each.
func BenchmarkOneByOne(b *testing.B) {
	for _, library := range []string{"libgcc_s.so.1", "libunwind.so.1"} {
		for _, n := range []int{1000, 10000} {
			for _, gathered := range []bool{true, false} {
				b.Run(fmt.Sprintf("%s/%d/gathered=%v", library, n, gathered), func(b *testing.B) {
					oneByOne(b, library, n, gathered)
				})
			}
		}
	}
}

func oneByOne(b *testing.B, library string, n int, gathered bool) {
	defer func(limits []int) { gathering = [3]int(limits) }(slices.Clone(gathering[:]))
	if !gathered {
		gathering = [3]int{}
	}
	walked := built(b, "backtrace.c")
	r, unwinder := only(b, library), load(b, library)
	few := newChain(b, 3, walked.Symbol("leaf"))
	if few.code.Address < arena {
		b.Fatal("the chain lies in the arena")
	}
	c := batchOf(b, n)
	registered := make([]*batch, n)
	functions := c.Functions
	var published, walk, withdrawn int64
	for range b.N {
		chain, err := r.publish(few.code)
		if err != nil {
			b.Fatal(err)
		}
		start := b.Elapsed()
		for i := range functions {
			one := jit.Code{Address: c.Address, Text: c.Text, Functions: functions[i : i+1]}
			if registered[i], err = r.publish(&one); err != nil {
				b.Fatal(err)
			}
		}
		atWalk := b.Elapsed()
		if _, through := backtrace(b, few, walked, unwinder); !through {
			b.Fatal("the walk did not come through")
		}
		atWithdraw := b.Elapsed()
		for _, one := range registered {
			if err := one.Withdraw(); err != nil {
				b.Fatal(err)
			}
		}
		published += int64(atWalk - start)
		walk += int64(atWithdraw - atWalk)
		withdrawn += int64(b.Elapsed() - atWithdraw)
		if err := chain.Withdraw(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(published)/float64(b.N)/1e6, "publish-ms")
	b.ReportMetric(float64(walk)/float64(b.N)/1e6, "walk-ms")
	b.ReportMetric(float64(withdrawn)/float64(b.N)/1e6, "withdraw-ms")
}
