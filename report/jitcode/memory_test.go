// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clewdev/clew/stack/generated"
)

// Counting the functions of a source allocates one list of them, which does not grow in steps.
func TestGeneratedCodeMemory(t *testing.T) {
	const functions = 1 << 16
	var text []byte
	for i := range functions {
		text = fmt.Appendf(text, "%x 10 f%d\n", 0x10000000+16*i, i)
	}
	path := filepath.Join(t.TempDir(), "perf-77.map")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := generated.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	NewSources([]*generated.Source{source}, nil) // the source reads some data once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g := NewSources([]*generated.Source{source}, nil)
	runtime.ReadMemStats(&after)
	if n := g.Sources[0].Functions; n != functions {
		t.Errorf("%d functions, expected %d", n, functions)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16*functions*3/2 {
		t.Errorf("%d bytes were allocated for %d functions", n, functions)
	}
}
