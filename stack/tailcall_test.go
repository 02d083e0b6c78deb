// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
)

// tailCalled returns the functions of a stack up to main, with those of tail calls in
// brackets.
func tailCalled(s *stack.Stack) (names []string) {
	for i := range s.Frames {
		f := &s.Frames[i]
		name := trace.FunctionName(f)
		if f.TailCall {
			if l := f.Location(); l == nil || l.Line == 0 || f.SP != 0 || f.Registers != nil {
				name += " as a frame"
			}
			name = "[" + name + "]"
		}
		if names = append(names, name); name == "main" {
			return names[1:] // the first one is the C library's
		}
	}
	return names
}

var lldbFrame = regexp.MustCompile("(?m)^ +frame #[0-9]+: 0x[0-9a-f]+ [^`\n]+`([a-z]+)\\(.* at tailcall\\.c:[0-9:]+( \\[artificial\\])?$")

// tailCalledByLLDB is tailCalled for lldb's output.
func tailCalledByLLDB(t *testing.T, pid int) (names []string) {
	lldb := testprogram.RequireTool(t, "lldb-14")
	out, err := exec.Command(lldb, "-b", "-x", "-p", strconv.Itoa(pid), "-o", "bt", "-o", "detach").CombinedOutput()
	if err != nil {
		t.Fatalf("lldb: %v\n%s", err, out)
	}
	for _, m := range lldbFrame.FindAllSubmatch(out, -1) {
		name := string(m[1])
		if len(m[2]) > 0 {
			name = "[" + name + "]"
		}
		names = append(names, name)
	}
	return names
}

// The functions that tail calls removed from the stack are shown if only one path leads there.
func TestTailCalls(t *testing.T) {
	tests := []struct {
		how  string
		want []string
	}{
		{"chain", []string{"waiting", "[linked]", "[chained]", "main"}},
		{"ambiguous", []string{"waiting", "[last]", "main"}}, // by left or by right
		{"indirect", []string{"waiting", "main"}},
		{"several", []string{"waiting", "main"}},
		{"twice", []string{"waiting", "[linked]", "[chained]", "twice", "main"}},
	}
	for _, compiler := range []string{"gcc", "clang"} {
		// In DWARF 5, clang 14 gives the address of a tail call and not the one after it. gdb
		// 13 does not find those, lldb 14 does.
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(compiler+" "+version, func(t *testing.T) {
				program := testprogram.BuildWith(t, compiler, "tailcall.c", "-O2", version)
				for _, test := range tests {
					p := testprogram.Start(t, program, test.how)
					p.Settle(t)
					s := stacktest.Take(t, p.PID)
					stacks := stacktest.Stacks(t, s)
					if got := tailCalled(&stacks[0]); !slices.Equal(got, test.want) {
						t.Errorf("%s: %q, want %q", test.how, got, test.want)
					}
					switch {
					case compiler != "clang" || test.how != "chain":
					case version == "-gdwarf-4":
						testprogram.Halt(t, p.PID)
						sameAsGDB(t, p.PID)
					default:
						if got := tailCalledByLLDB(t, p.PID); !slices.Equal(got, test.want) {
							t.Errorf("lldb has %q, want %q", got, test.want)
						}
					}
				}
			})
		}
	}
}

// They are found once, even if the frames are named repeatedly, and only with lines.
func TestTailCallsTwice(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "tailcall.c", "-O2", "-g"), "chain")
	p.Settle(t)
	objects := stack.NewObjects(stacktest.Take(t, p.PID))
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{})
	frames := len(stacks[0].Frames)
	for i, test := range []struct {
		lines bool
		want  int
	}{{false, frames}, {true, frames + 2}, {true, frames + 2}} {
		if err := objects.Name(stacks, stack.NameOptions{Lines: test.lines}); err != nil {
			t.Error(err)
		}
		if got := len(stacks[0].Frames); got != test.want {
			t.Errorf("named %d times: %d frames, want %d", i+1, got, test.want)
		}
	}
}
