// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package golang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit/symfile/reader"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// Code that the loader of github.com/bytedance/sonic added to the list of modules of Go's
// runtime is named and unwound by the tables that it registered there: on threads and in
// goroutines, live and in a core, as in the program's own dump on SIGQUIT, name by name, line
// by line, address by address.
func TestGoModuleList(t *testing.T) {
	type build struct {
		name  string
		flags []string
	}
	builds := []build{
		{"symbols", []string{"-ldflags=-checklinkname=0"}},
		{"stripped", []string{"-ldflags=-checklinkname=0 -s -w"}},
		{"PIE", []string{"-buildmode=pie", "-ldflags=-checklinkname=0"}},
		{"stripped PIE", []string{"-buildmode=pie", "-ldflags=-checklinkname=0 -s -w"}},
	}
	// gcore writes 1.5 GB of a Go process, which takes longer than the test itself.
	for _, tt := range sample.Of(t, builds, 1) {
		t.Run(tt.name, func(t *testing.T) {
			p := testprogram.Start(t, testprogram.BuildModule(t, "loaded", tt.flags...))
			p.Settle(t)
			s := takeGoroutines(t, p.PID, true)
			ways := map[string][]golang.Goroutine{
				"copied": goroutinesOf(t, s, golang.Options{System: true}),
				"read":   goroutinesOf(t, takeGoroutines(t, p.PID, false), golang.Options{System: true}),
			}
			sources := loadedModules(t, s)
			live, _ := stacktest.Through(t, stacktest.Stacks(t, s), "inner.f2")
			leadsThroughModules(t, live)
			core := testprogram.GCore(t, p.PID)
			ways["core"] = goroutinesOf(t, stacktest.OpenCore(t, core, nil).Snapshot(), golang.Options{System: true})
			want := onQuit(t, p.Quit())
			for way, list := range ways {
				got := make(map[uint64]said)
				loaded := 0
				for i := range list {
					g := &list[i]
					got[g.ID] = described(g)
					if g.Stack.Reason != unwind.EndOfStack {
						t.Errorf("%s: goroutine %d: %v: %v", way, g.ID, g.Stack.Reason, g.Stack.Err)
					}
					if slices.ContainsFunc(got[g.ID].frames, func(f string) bool { return strings.HasPrefix(f, "inner.f") && strings.Contains(f, " /src/inner.jit:") }) {
						loaded++
					}
				}
				if loaded != 7 {
					t.Errorf("%s: %d goroutines lead through the code that was loaded, expected 7", way, loaded)
				}
				compareGoroutines(t, way, got, want, list)
			}
			dumped := stacktest.OpenCore(t, core, nil).Snapshot()
			stack, _ := stacktest.Through(t, stacktest.Stacks(t, dumped), "inner.f2")
			leadsThroughModules(t, stack)
			if got := loadedModules(t, dumped); !slices.Equal(got, sources) {
				t.Errorf("the core has %q, the process %q", got, sources)
			}
		})
	}
}

// loadedModules returns the functions of the only source of a snapshot, which is Go's list of
// modules.
func loadedModules(t *testing.T, s *snapshot.Snapshot) []string {
	t.Helper()
	objects := stack.NewObjects(s)
	defer objects.Close()
	sources, err := objects.GeneratedCode()
	if err != nil || len(sources) != 1 || sources[0].Kind != generated.GoModuleList || sources[0].Entries != 2 || sources[0].Err != nil {
		t.Fatalf("sources %+v: %v", sources, err)
	}
	var names []string
	for f := range sources[0].Functions() {
		names = append(names, f.Name)
		if code, err := f.Code(); err != nil || len(code) != 0x3a || !f.Executable() || !f.Unwinds() {
			t.Errorf("%+v: % x, %v", f, code, err)
		}
	}
	if want := []string{"inner.f0", "inner.f1", "inner.f2", "outer.f0", "outer.f1"}; !slices.Equal(names, want) {
		t.Errorf("functions %q, expected %q", names, want)
	}
	return names
}

// leadsThroughModules fails unless a thread's stack contains both modules and reaches the
// start of the goroutine.
func leadsThroughModules(t *testing.T, walked *stack.Stack) {
	t.Helper()
	var got []string
	for i := range walked.Frames {
		f := &walked.Frames[i]
		name := trace.FunctionName(f)
		if f.Object != nil && f.Object.Generated == generated.GoModuleList {
			l := f.Location()
			name = fmt.Sprintf("%s %s:%d by %v", name, l.File, l.Line, f.Method)
		}
		got = append(got, name)
	}
	want := []string{"main.main.func2.1", "inner.f2 /src/inner.jit:22 by CFI", "main.main.func2", "outer.f1 /src/outer.jit:12 by CFI", "main.main", "runtime.main", "runtime.goexit"}
	if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) || walked.Reason != unwind.EndOfStack {
		t.Errorf("%q, %v (%v), expected %q", got, walked.Reason, walked.Err, want)
	}
}

// The unwind table of loaded code, as it is printed and written to a symbol file, is made from
// the depths in Go's table and from the registers that the code saves.
func TestGoModuleFrames(t *testing.T) {
	p := testprogram.Start(t, testprogram.BuildModule(t, "loaded", "-ldflags=-checklinkname=0"))
	p.Settle(t)
	objects := stack.NewObjects(stacktest.Take(t, p.PID))
	defer objects.Close()
	sources, err := objects.GeneratedCode()
	if err != nil || len(sources) != 1 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for f := range sources[0].Functions() {
		sections, err := f.Frames()
		if err != nil || len(sections) != 1 {
			t.Fatalf("%s: %d sections, %v", f.Name, len(sections), err)
		}
		var fde cfi.FDE
		if err := sections[0].Find(f.Start, &fde); err != nil || fde.Start != f.Start || fde.End != f.Start+f.Size {
			t.Fatalf("%s: FDE %#x-%#x, %v", f.Name, fde.Start, fde.End, err)
		}
		var x cfi.Interpreter
		var got []string
		for row := range x.Rows(&fde) {
			text := fmt.Sprintf("+%#x CFA=r%d%+d", row.Start-f.Start, row.CFA.Register, row.CFA.Offset)
			for _, r := range row.Registers {
				text += fmt.Sprintf(" r%d=%+d", r.Column, r.Offset)
			}
			got = append(got, text)
		}
		if x.Err() != nil {
			t.Fatal(x.Err())
		}
		if want := []string{"+0x0 CFA=r7+8 r16=-8", "+0x4 CFA=r7+32 r16=-8", "+0x9 CFA=r7+32 r6=-16 r16=-8", "+0x39 CFA=r7+8 r6=-16 r16=-8"}; !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, expected %q", f.Name, got, want)
		}
		data, err := sources[0].SymbolFile(nil, []generated.Function{f})
		if err != nil {
			t.Fatal(err)
		}
		image, err := reader.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		if named, ok := image.Find(f.Start + 0x21); !ok || named.Name != f.Name {
			t.Errorf("%s: its symbol file has %+v", f.Name, named)
		}
	}
}
