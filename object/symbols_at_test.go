// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// All names of an address are found, and nothing that only covers it.
func TestSymbolsAt(t *testing.T) {
	f, err := object.Open(testprogram.Build(t, "chain.c"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := range f.Symbols() {
		found := f.SymbolsAt(s.Address)
		if !slices.Contains(found, s) {
			t.Errorf("%+v is not among those at its address: %+v", s, found)
		}
		for _, other := range found {
			if other.Address != s.Address {
				t.Errorf("%+v is among those at %#x", other, s.Address)
			}
		}
	}
	if s, ok := f.Symbol("main"); !ok || len(f.SymbolsAt(s.Address+1)) != 0 {
		t.Errorf("main is %+v, and within it are %+v", s, f.SymbolsAt(s.Address+1))
	}
}
