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

// compareJumps is compareCrash of a program with a library.
func compareJumps(t *testing.T, name string, frames int) {
	t.Helper()
	library := filepath.Join(t.TempDir(), "lib"+name+".so")
	run(t, "gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, "testdata/"+name+"_library.c")
	compareCrash(t, frames, "testdata/"+name+".c", library)
}

// compareCrash compares the given number of frames with gdb's, for a crash of a program.
func compareCrash(t *testing.T, frames int, inputs ...string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	run(t, "gcc", append([]string{"-O2", "-g", "-o", program}, inputs...)...)
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	want := gdbShows(t, program, path)
	for i := range want {
		want[i].name = strings.TrimPrefix(want[i].name, "own_") // gdb knows it by the name for linking
	}
	if n := compareCores(t, want, clewShows(t, path, nil)); n != frames {
		t.Errorf("%d frames", n)
	}
}

// The arguments of a function that ended with a tail call are those that its caller passed,
// also if the caller is in another object, and if the library has another name for the
// function.
func TestJumps(t *testing.T) { compareJumps(t, "jumps", 7) }

// A function that the C library has only for old programs, under a version that is not the
// default one, is not the target of a call by its name.
func TestJumpByOldName(t *testing.T) { compareJumps(t, "oldname", 4) }

// The arguments that a caller passed are not attributed to a function that it did not call.
func TestTwoJumps(t *testing.T) { compareJumps(t, "twojumps", 3) }

// The arguments of a function that reaches itself through tail calls, here by one of another file
// of source, need not be those that its caller passed.
func TestJumpsBack(t *testing.T) {
	compareCrash(t, 3, "testdata/again.c", "testdata/again_other.c")
}
