// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"testing"

	"github.com/clewdev/clew/stack/generated"
)

// Functions that were at the same address at different times are checked with their own code.
func TestCollectedAtTheSameAddress(t *testing.T) {
	var p collectedPlace
	add := func(start, size uint64, text byte) {
		code := make([]byte, size)
		for i := range code {
			code[i] = text
		}
		p.add(&generated.Function{Start: start, Size: size}, code)
	}
	add(0x100, 0x10, 'a')
	add(0x120, 0x10, 'b')
	add(0x110, 0x10, 'c') // between them
	add(0x108, 0x20, 'd') // over the first and third
	add(0x0f8, 0x10, 'e')
	add(0x128, 0x08, 'f')
	if len(p.code) != 2 {
		t.Fatalf("%d generations", len(p.code))
	}
	for generation, text := range map[int]map[uint64]string{0: {0x100: "a", 0x10f: "a", 0x110: "c", 0x12f: "b"}, 1: {0x0f8: "e", 0x107: "e", 0x108: "d", 0x127: "d", 0x128: "f"}} {
		for at, want := range text {
			var b [1]byte
			if err := p.code[generation].ReadMemory(b[:], at); err != nil || string(b[:]) != want {
				t.Errorf("generation %d at %#x: %q, %v, want %q", generation, at, b, err, want)
			}
		}
	}
}
