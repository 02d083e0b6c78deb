// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import "testing"

// BenchmarkScan searches 64 MiB without a descriptor.
func BenchmarkScan(b *testing.B) {
	memory := memory{1 << 32: make([]byte, 64<<20)}
	b.SetBytes(64 << 20)
	for range b.N {
		if lists, err := Read(&Space{Machine: x86_64, Memory: memory, Writable: []Range{{1 << 32, 1<<32 + 64<<20}}}); err != nil || len(lists) != 0 {
			b.Fatal(lists, err)
		}
	}
}
