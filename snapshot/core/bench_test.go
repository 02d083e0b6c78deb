// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"testing"

	"github.com/clewdev/clew/snapshot/core"
)

// BenchmarkOpen opens a core of four segments and two threads.
func BenchmarkOpen(b *testing.B) {
	path := write(b, makers["x86-64"]().bytes())
	b.ReportAllocs()
	for b.Loop() {
		c, err := core.Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

// BenchmarkReadMemory reads words of a stack, as a walk does.
func BenchmarkReadMemory(b *testing.B) {
	c, err := core.Open(write(b, makers["x86-64"]().bytes()), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	memory := c.Snapshot().Memory
	var word [8]byte
	b.ReportAllocs()
	for at := uint64(0); b.Loop(); at = (at + 8) % 0x1f8 {
		if err := memory.ReadMemory(word[:], 0x20000+at); err != nil {
			b.Fatal(err)
		}
	}
}
