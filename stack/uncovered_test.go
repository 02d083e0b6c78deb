// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// uncoveredWays are the ways in which uncovered.c comes to rest, with its functions, innermost
// first, up to main.
var uncoveredWays = []struct {
	way  string
	want string
}{
	{"leaf", "leaf direct inner middle outer main"},
	{"indirect", "leaf indirect inner middle outer main"},
	{"tail", "leaf calls_tail inner middle outer main"},
	{"record", "leaf direct record inner middle outer main"},
	{"plain", "leaf direct plain inner middle outer main"},
	{"waits", "waits calls_waits inner middle outer main"},
}

// buildUncovered builds uncovered.c with a compiler.
func buildUncovered(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	bare := append([]string{"-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-c"}, flags...)
	plain := testprogram.BuildWith(t, compiler, "uncovered_plain.c", bare...)
	return testprogram.BuildWith(t, compiler, "uncovered.c", append([]string{"-O2", plain}, flags...)...)
}

// upToMain returns the functions of a stack up to main, and those after a gap.
func upToMain(walked *stack.Stack) (names []string, gaps int) {
	for i := range walked.Frames {
		f := &walked.Frames[i]
		names = append(names, trace.FunctionName(f))
		if f.Gap {
			gaps++
		}
		if names[i] == "main" {
			break
		}
	}
	return names, gaps
}

// Stacks through functions without call frame information are those of the source, in cores of
// emulated programs: x30 has the leaf's caller, and a frame record gives the stack pointer. If
// a frame has no record, the stack ends with the reason.
func TestUncoveredOnARM64(t *testing.T) {
	e := testprogram.Emulations["arm64"]
	for _, compiler := range []string{"aarch64-linux-gnu-gcc", "clang"} {
		var machine []string
		if compiler == "clang" {
			machine = []string{"--target=aarch64-linux-gnu"}
		}
		for _, flags := range [][]string{{"-fno-omit-frame-pointer"}, {"-fomit-frame-pointer"}} {
			program := buildUncovered(t, compiler, append(machine, flags...)...)
			for _, test := range uncoveredWays {
				t.Run(strings.Join([]string{compiler, flags[0], test.way}, " "), func(t *testing.T) {
					path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, program, test.way, "crash")
					c := stacktest.OpenCore(t, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program})
					want := strings.Fields(test.want)
					checkUncovered(t, &stacktest.Stacks(t, c.Snapshot())[0], want, flags[0] == "-fomit-frame-pointer")
					checkAnalysed(t, c.Snapshot(), want)
				})
			}
		}
	}
}

// The same for live processes of x86-64, where the code replaces a missing frame pointer.
func TestUncoveredLive(t *testing.T) {
	for _, flags := range [][]string{{"-fno-omit-frame-pointer"}, {"-fomit-frame-pointer"}, {"-s"}} {
		program := buildUncovered(t, "gcc", flags...)
		for _, test := range uncoveredWays {
			t.Run(strings.Join(append(flags, test.way), " "), func(t *testing.T) {
				p := testprogram.Start(t, program, test.way)
				// It prints that it is ready before it gets there.
				var walked *stack.Stack
				for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					walked = &stacktest.Stacks(t, stacktest.Take(t, p.PID))[0]
					if o := walked.Frames[0].Object; o != nil && o.Name == program && trace.FunctionName(&walked.Frames[0]) != "main" {
						break
					}
				}
				if flags[0] == "-s" {
					// Without names: as many frames, and three of libc and _start. Two C
					// functions cannot be unwound, because their start is unknown.
					if n := len(walked.Frames) - 3; test.way != "waits" && test.way != "plain" &&
						(n != len(strings.Fields(test.want)) || walked.Reason != unwind.EndOfStack) {
						t.Errorf("%d frames up to main, expected %s (%v: %v)", n, test.want, walked.Reason, walked.Err)
					}
					return
				}
				want := strings.Fields(test.want)
				checkUncovered(t, walked, want, false)
				checkAnalysed(t, stacktest.Take(t, p.PID), want)
			})
		}
	}
}

// checkUncovered compares a stack with the called functions. If the compiler omits frame
// pointers, C without call frame information cannot be unwound on arm64: then the stack ends
// there with an error, or callers are missing and a frame is marked.
func checkUncovered(t *testing.T, walked *stack.Stack, want []string, omits bool) {
	t.Helper()
	names, gaps := upToMain(walked)
	if slices.Equal(names, want) && walked.Reason == unwind.EndOfStack && gaps == 0 {
		return
	}
	list := fmt.Sprintf("%q, %d gaps; %v: %v; expected %q", names, gaps, walked.Reason, walked.Err, want)
	if !omits {
		t.Error(list)
		return
	}
	next := 0
	for _, name := range want {
		if next < len(names) && names[next] == name {
			next++
		}
	}
	whole := walked.Reason == unwind.EndOfStack && gaps == 0
	if next < len(names) && names[len(names)-1] == "main" || whole || next < 2 && gaps == 0 && walked.Err == nil {
		t.Error(list)
	}
	t.Log(list)
}

// checkAnalysed compares a stack with the called functions, when the code of those without call
// frame information is analysed. Nothing is missing then, whatever the compiler omits.
func checkAnalysed(t *testing.T, s *snapshot.Snapshot, want []string) {
	t.Helper()
	walked := &stacktest.Analysed(t, s, new(coderules.Analyzer))[0]
	names, gaps := upToMain(walked)
	if !slices.Equal(names, want) || walked.Reason != unwind.EndOfStack || gaps > 0 {
		t.Errorf("analysed: %q, %d gaps; %v: %v; expected %q", names, gaps, walked.Reason, walked.Err, want)
	}
	for i := 1; i < len(walked.Frames); i++ {
		// The callees without call frame information.
		switch name, method := trace.FunctionName(&walked.Frames[i-1]), walked.Frames[i].Method; {
		case (name == "leaf" || name == "record" || name == "plain" || name == "waits") != (method == unwind.FromCode):
			t.Errorf("the caller of %s was found by %v", name, method)
		}
	}
}

// The same, compared with gdb, which guesses such frames by their code.
func TestUncoveredEqualsGDB(t *testing.T) {
	program := buildUncovered(t, "gcc", "-fno-omit-frame-pointer", "-g")
	for _, test := range sample.Of(t, uncoveredWays, 3) {
		t.Run(test.way, func(t *testing.T) {
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program, test.way, "crash")
			c := stacktest.OpenCore(t, path, nil)
			if test.way != "record" {
				leadsThrough(t, coreEqualsGDB(t, c, "gdb", program, path), "main")
				return
			}
			// gdb assumes that an unknown function preserves all registers.
			s := c.Snapshot()
			stack := &stacktest.Stacks(t, s)[0]
			gdbs := gdbReports(t, testprogram.RequireTool(t, "gdb"), "--core="+path, program)[s.Threads[0].ID]
			for i := range max(len(stack.Frames), len(gdbs.Frames)) {
				if i >= len(stack.Frames) || i >= len(gdbs.Frames) || stack.Frames[i].PC != gdbs.Frames[i].PC {
					t.Fatalf("frame %d of %d differs, gdb has %d", i, len(stack.Frames), len(gdbs.Frames))
				}
			}
		})
	}
}

// Older C libraries' _start on arm64 ends the stack, although no rule says so, with or without
// call frame information and a symbol.
func TestOldStartOnARM64(t *testing.T) {
	e := testprogram.Emulations["arm64"]
	for _, flags := range [][]string{{"-g"}, {"-DCFI"}, {"-s"}, {"-s", "-DCFI"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := e.Build(t, "oldstart.c", append([]string{"-O2", "-no-pie", "-nostartfiles"}, flags...)...)
			path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, program)
			c := stacktest.OpenCore(t, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program})
			stack := &stacktest.Stacks(t, c.Snapshot())[0]
			last := &stack.Frames[len(stack.Frames)-1]
			if stack.Reason != unwind.EndOfStack || last.Object == nil || last.Object.Name != program || len(stack.Frames) != 5 {
				t.Errorf("%d frames to %s: %v: %v", len(stack.Frames), trace.FunctionName(last), stack.Reason, stack.Err)
			}
		})
	}
}
