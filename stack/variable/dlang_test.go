// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// The functions of D are in a module, and have the names of the source. Their arguments equal
// those of gdb, which names the functions by their symbols.
func TestD(t *testing.T) {
	program := filepath.Join(t.TempDir(), "frames")
	run(t, "gcc", "-o", program, "testdata/frames.d.s")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	names := []string{"frames.last!(long).last", "frames.Pair!(long).Pair.sum", "main"}
	want, got := gdbShows(t, program, path), clewShows(t, path, nil)
	if len(want) < len(names) || len(got) != len(names) { // gdb goes on after main
		t.Fatalf("%v\ngdb:\n%v", got, want)
	}
	for i, name := range names {
		if g, w := got[i], want[i]; g.name != name || g.arguments != w.arguments || g.line != w.line {
			t.Errorf("%v, expected the name %s and otherwise %v", g, name, w)
		}
	}
}
