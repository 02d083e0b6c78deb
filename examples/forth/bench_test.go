// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"os"
	"testing"

	"github.com/clewdev/clew/examples/forth"
)

func BenchmarkCompile(b *testing.B) {
	source, err := os.ReadFile("testdata/labyrinth.fth")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := forth.Compile("labyrinth.fth", source, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall measures a call from Go to a word and back.
func BenchmarkCall(b *testing.B) {
	s := load(b, ": inc 1+ ;", nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.Call("inc", 41); err != nil || got[0] != 42 {
			b.Fatal(got, err)
		}
	}
}
