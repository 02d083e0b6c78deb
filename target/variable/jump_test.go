// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// What a function was called with that has jumped to another one is what its caller
// passed, also where that is another object, and where the library has a name of its
// own for the function.
func TestJumps(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libjumps.so")
	program := filepath.Join(dir, "jumps")
	run(t, "gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, "testdata/jumps_library.c")
	run(t, "gcc", "-O2", "-g", "-o", program, "testdata/jumps.c", library)
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	want := gdbShows(t, program, path)
	for i := range want {
		want[i].name = strings.TrimPrefix(want[i].name, "own_") // gdb knows it by the name for linking
	}
	if n := compareCores(t, want, clewShows(t, path, nil)); n < 7 {
		t.Errorf("%d frames", n)
	}
}

// A function that the C library has for programs of long ago alone, under a version that
// is not the default one, is not where a call by its name leads.
func TestJumpByOldName(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "liboldname.so")
	program := filepath.Join(dir, "oldname")
	run(t, "gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, "testdata/oldname_library.c")
	run(t, "gcc", "-O2", "-g", "-o", program, "testdata/oldname.c", library)
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	if n := compareCores(t, gdbShows(t, program, path), clewShows(t, path, nil)); n != 4 {
		t.Errorf("%d frames", n)
	}
}

// What a caller passed is not taken for what a function got that it has not called.
func TestTwoJumps(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libtwojumps.so")
	program := filepath.Join(dir, "twojumps")
	run(t, "gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, "testdata/twojumps_library.c")
	run(t, "gcc", "-O2", "-g", "-o", program, "testdata/twojumps.c", library)
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	got := clewShows(t, path, nil)
	if n := compareCores(t, gdbShows(t, program, path), got); n != 3 {
		t.Errorf("%d frames", n)
	}
}
