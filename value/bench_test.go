// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"os"
	"sync"
	"testing"

	"github.com/clewdev/clew/object"
)

func openSmall(tb testing.TB) (*Info, *Scope) {
	tb.Helper()
	data, err := os.ReadFile("testdata/small5.elf")
	if err != nil {
		tb.Fatal(err)
	}
	file, err := object.NewFile(data, "small5.elf")
	if err != nil {
		tb.Fatal(err)
	}
	info, err := Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	functions, err := info.Functions("manhattan")
	if err != nil {
		tb.Fatal(err)
	}
	scopes, err := info.Scopes(functions[0].Entry)
	if err != nil {
		tb.Fatal(err)
	}
	return info, scopes[len(scopes)-1]
}

// BenchmarkScopes finds the scopes in a function that was read before.
func BenchmarkScopes(b *testing.B) {
	info, s := openSmall(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := info.Scopes(s.Function.Entry); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads the eight bytes of an argument in a register.
func BenchmarkRead(b *testing.B) {
	info, s := openSmall(b)
	f := &hostileFrame{info: info, pc: s.Function.Entry}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Arguments[0].Read(f).Uint(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestConcurrent uses one Info from several goroutines.
func TestConcurrent(t *testing.T) {
	info, s := openSmall(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			f := &hostileFrame{info: info, pc: s.Function.Entry}
			for range 20 {
				scopes, err := info.Scopes(s.Function.Entry)
				if err != nil {
					t.Error(err)
					return
				}
				for _, scope := range scopes {
					for _, v := range scope.Arguments {
						NewPrinter(0).Argument(v, f)
					}
				}
				v, err := info.Global("first", 0)
				if err != nil {
					t.Error(err)
					return
				}
				NewPrinter(0).Variable(v, f)
				if _, err := info.Type("struct point", 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
