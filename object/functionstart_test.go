// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// FunctionStart agrees with FindSymbols for every byte of a function. A byte that no symbol
// covers belongs to no function if the table may lack functions.
func TestFunctionStart(t *testing.T) {
	program := testprogram.Build(t, "chain.c", "-O2")
	for _, path := range []string{program, "/lib/x86_64-linux-gnu/libc.so.6"} {
		f, err := object.Open(path)
		if err != nil {
			t.Skipf("skipped: %s is not installed", path)
		}
		defer f.Close()
		n := 0
		for s := range f.Symbols() {
			if s.Type.String() != "STT_FUNC" || s.Size == 0 {
				continue
			}
			for _, at := range []uint64{0, s.Size / 2, s.Size - 1} {
				found, err := f.FindSymbols([]uint64{s.Address + at})
				if err != nil {
					t.Fatal(err)
				}
				if start, ok := f.FunctionStart(s.Address + at); !ok || start != found[0].Address {
					t.Errorf("%s: %s+%#x: %#x, %v; FindSymbols has %#x", path, s.Name, at, start, ok, found[0].Address)
				}
			}
			if n++; n == 200 {
				break
			}
		}
		if n == 0 {
			t.Errorf("%s: no functions", path)
		}
		if start, ok := f.FunctionStart(1); ok {
			t.Errorf("%s: a function at %#x", path, start)
		}
	}
}
