// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// library builds a library with another copy of the interface.
func library(t *testing.T) string {
	t.Helper()
	gcc := testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "second.so")
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-x", "c", "-o", path, "testdata/jit/second.h").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

const secondError = "error: another copy of the GDB JIT interface is in the process: at 0x"

// A second copy of the interface is an error that names its place, whether it was
// loaded before or after; unless it is allowed.
func TestSecond(t *testing.T) {
	plain, own, library := builds[2].path(t), second.path(t), library(t)
	for _, test := range []struct {
		name, program string
		steps         []string
		in            string // name of the other file, "" for no error
		results       int
	}{
		{"none", plain, []string{"publish", "call"}, "", 1},
		{"in the program", own, []string{"publish", "call"}, own, 0},
		{"in the program, and allowed", own, []string{"second", "publish", "call"}, "", 1},
		{"in a library", plain, []string{"open=" + library, "publish", "call"}, library, 0},
		{"in a library, and allowed", plain, []string{"second", "open=" + library, "publish", "call"}, "", 1},
		{"in a library that comes later", plain, []string{"publish", "call", "many=10", "open=" + library, "sleep=1100", "many=1", "call"}, library, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := output(t, exec.Command(test.program, test.steps...))
			if (err == nil) != (test.in == "") || test.in != "" && !strings.Contains(out, " in "+test.in+", and at 0x") ||
				strings.Contains(out, secondError) != (test.in != "") || strings.Count(out, "result 42") != test.results {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// Debuggers behave with two copies as the documentation of ErrSecondDescriptor says.
func TestSecondInDebuggers(t *testing.T) {
	plain, own, library := builds[2].path(t), second.path(t), library(t)
	inLibrary := []string{plain, "second", "open=" + library, "publish", "call"}
	inProgram := []string{own, "second", "publish", "call"}
	t.Run("gdb", func(t *testing.T) {
		out := debug(t, []string{"break jit_inner", "run", "bt 1"}, append([]string{"--args"}, inLibrary...)...)
		inOrder(t, out, gdbInner) // gdb sets a breakpoint in each object
		out = debug(t, []string{"break jit_inner", "run"}, append([]string{"--args"}, inProgram...)...)
		if strings.Contains(out, "hit Breakpoint") || !strings.Contains(out, "result 42") {
			t.Errorf("of two in one object gdb reads both now:\n%s", out)
		}
	})
	t.Run("lldb", func(t *testing.T) {
		// lldb sets one breakpoint, in the first object that it finds: the program.
		out := lldb(t, []string{"breakpoint set -n jit_inner", "run"}, append([]string{"--"}, inLibrary...)...)
		inOrder(t, out, `stop reason = breakpoint 1`)
		// lldb takes either of two copies in one object.
		out = lldb(t, []string{"breakpoint set -n jit_inner", "run"}, append([]string{"--"}, inProgram...)...)
		if strings.Contains(out, "stop reason = breakpoint") == strings.Contains(out, "result 42") {
			t.Errorf("lldb neither stops nor lets the program run:\n%s", out)
		}
	})
}
