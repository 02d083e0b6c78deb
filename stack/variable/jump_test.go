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

// compareJumps compares how a program and its library crash with what gdb shows, in so many
// frames.
func compareJumps(t *testing.T, name string, frames int) {
	t.Helper()
	dir := t.TempDir()
	library := filepath.Join(dir, "lib"+name+".so")
	program := filepath.Join(dir, name)
	run(t, "gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, "testdata/"+name+"_library.c")
	run(t, "gcc", "-O2", "-g", "-o", program, "testdata/"+name+".c", library)
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	want := gdbShows(t, program, path)
	for i := range want {
		want[i].name = strings.TrimPrefix(want[i].name, "own_") // gdb knows it by the name for linking
	}
	if n := compareCores(t, want, clewShows(t, path, nil)); n != frames {
		t.Errorf("%d frames", n)
	}
}

// What a function was called with that has jumped to another one is what its caller
// passed, also where that is another object, and where the library has a name of its
// own for the function.
func TestJumps(t *testing.T) { compareJumps(t, "jumps", 7) }

// A function that the C library has for programs of long ago alone, under a version that
// is not the default one, is not where a call by its name leads.
func TestJumpByOldName(t *testing.T) { compareJumps(t, "oldname", 4) }

// What a caller passed is not taken for what a function got that it has not called.
func TestTwoJumps(t *testing.T) { compareJumps(t, "twojumps", 3) }
