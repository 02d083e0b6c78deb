// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package stack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Memory of an unnamed file, which a JIT compiler maps a second time to write to it, contains
// generated code: the file is not reported, and stacks lead through it, live and in a core. A
// library that was loaded in this way is still an object file.
func TestMappedTwice(t *testing.T) {
	program := testprogram.Build(t, "memfd.c", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
	folder := t.TempDir()
	source, library := filepath.Join(folder, "call.c"), filepath.Join(folder, "call.so")
	if err := os.WriteFile(source, []byte("long call(long (*f)(void)) { return f() + 1; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-O1", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		name string
		args []string
		in   string // the name of the object that the code is in
		want []string
	}{
		{"memfd", []string{"memfd"}, "/memfd:jit", []string{"wait", "", "generated", "main"}},
		{"deleted file", []string{"file", filepath.Join(folder, "jit")}, filepath.Join(folder, "jit"), []string{"wait", "", "generated", "main"}},
		{"library", []string{"library", library}, "/memfd:library", []string{"wait", "call", "library", "main"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testprogram.Start(t, program, tt.args...)
			p.Settle(t)
			check := func(way string, s *snapshot.Snapshot) {
				objects := stack.NewObjects(s)
				defer objects.Close()
				stacks := objects.Walk(stack.WalkOptions{})
				if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
					t.Errorf("%s: %v", way, err)
				}
				frames := stacks[0].Frames
				at := slices.IndexFunc(frames, func(f stack.Frame) bool { return trace.FunctionName(&f) == "wait" })
				if at < 0 || len(frames) < at+len(tt.want) || stacks[0].Reason != unwind.EndOfStack {
					t.Fatalf("%s: %d frames, %v: %v", way, len(frames), stacks[0].Reason, stacks[0].Err)
				}
				for i, want := range tt.want {
					if got := frames[at+i].Symbol.Name; got != want {
						t.Errorf("%s: frame %d is %q, expected %q", way, i, got, want)
					}
				}
				if o := frames[at+1].Object; o == nil || o.Name != tt.in || o.Loaded || o.Missing != nil {
					t.Errorf("%s: the code is in %+v", way, o)
				}
				if memory, _ := objects.CodeMemory(); (len(memory) == 1) != (tt.name != "library") {
					t.Errorf("%s: memory without an object file: %+v", way, memory)
				}
			}
			check("live", stacktest.Take(t, p.PID))
			if tt.name == "library" {
				return // gdb, which writes the core, waits for what it has itself as /proc/self/fd/N
			}
			check("core", stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot())
		})
	}
}
