// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// deaf returns a registry with an unwinder that does nothing, to measure only this package.
func deaf(b *testing.B, f flavour) *registry {
	b.Helper()
	none := func([]uintptr) {}
	all := []*unwinder{{flavour: f, register: none, withdraw: none, registerFDEs: none, withdrawFDEs: none}}
	return &registry{find: func() []*unwinder { return all }, memory: processMemory{}}
}

func batchOf(b *testing.B, n int) *jit.Code {
	b.Helper()
	tables := make([]*cfi.Program, 16) // with different frames
	for i := range tables {
		tables[i] = frame(b, int64(16*(i+1)))
	}
	c := &jit.Code{Address: arena, Text: make([]byte, 64*n)}
	for i := range n {
		c.Functions = append(c.Functions, jit.Function{
			Name: fmt.Sprint("f", i), Offset: 64 * uint64(i), Size: 60, Unwind: tables[i%len(tables)],
		})
	}
	return c
}

func benchmark(b *testing.B, publish func(*jit.Code) (*batch, error), n int, withdraw func(*batch) error) {
	c := batchOf(b, n)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		published, err := publish(c)
		if err == nil {
			err = withdraw(published)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/function")
}

// BenchmarkPublishWithdraw publishes and withdraws a batch, without the cost of an
// unwinder.
func BenchmarkPublishWithdraw(b *testing.B) {
	for name, f := range map[string]flavour{"list": sectionList, "tree": rangeTree, "array": functionArray} {
		for _, n := range []int{1, 1000, 10000} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				benchmark(b, deaf(b, f).publish, n, func(p *batch) error { return p.Withdraw() })
			})
		}
	}
}

// BenchmarkWithdrawSingly withdraws the functions of a batch one by one, in random order.
func BenchmarkWithdrawSingly(b *testing.B) {
	order := rand.New(rand.NewPCG(1, 1)).Perm(1000)
	benchmark(b, deaf(b, sectionList).publish, 1000, func(p *batch) error {
		for _, i := range order {
			if err := p.WithdrawFunctions(i); err != nil {
				return err
			}
		}
		return nil
	})
}
