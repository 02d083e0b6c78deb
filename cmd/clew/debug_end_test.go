// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// When a debugger leaves, clew reports the end of the call: the fault in which the call is stopped, or
// the signal that killed the worker. gdb reports the signal too.
func TestDebugReportsTheEnd(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	object := debuggedObject(t, "faults.c")
	for _, test := range []struct {
		name, call string
		commands   []string
		gdb, clew  []string
		code       int
	}{
		{"detach", "divide(1, 0)", []string{"continue", "detach"}, []string{"SIGFPE"},
			[]string{"Program received signal SIGFPE, Arithmetic exception.\n", " in divide (a=1, b=0) at "}, 1},
		{"kill -9 of gdb", "divide(1, 0)", []string{"continue", "python import os; os.kill(os.getpid(), 9)"}, []string{"SIGFPE"},
			[]string{"Program received signal SIGFPE, Arithmetic exception.\n"}, 1},
		{"kill", "divide(1, 0)", []string{"continue", "kill"}, []string{"SIGFPE", "killed"}, []string{"[divide(1, 0) was aborted]\n"}, 0},
		{"killed worker", "divide(1, 1)", []string{"python import os; os.kill(gdb.selected_inferior().pid, 9)", "continue"}, []string{"Program terminated with signal SIGKILL"},
			[]string{"[divide(1, 1) was killed by SIGKILL]\n"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, clew(t, "debug", object, "--call", test.call, "--rsp", "unix:"+filepath.Join(t.TempDir(), "socket")))
			out := runDebugger(t, "gdb", []string{"-nx", "-batch", "-ex", "set debuginfod enabled off"}, "-ex", append(s.gdb, test.commands...)...)
			for _, want := range test.gdb {
				if !strings.Contains(out, want) {
					t.Errorf("gdb does not print %q:\n%s", want, out)
				}
			}
			text, _ := io.ReadAll(s.lines)
			s.cmd.Wait()
			for _, want := range test.clew {
				if !strings.Contains(string(text), want) {
					t.Errorf("clew does not print %q: %q", want, text)
				}
			}
			if code := s.cmd.ProcessState.ExitCode(); code != test.code || s.stderr.Len() > 0 {
				t.Errorf("exit code %d, want %d; %q", code, test.code, s.stderr.String())
			}
		})
	}
}
