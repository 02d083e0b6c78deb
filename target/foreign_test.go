// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package target_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/core"
	"github.com/clewdev/clew/target/modulefile"
	"github.com/clewdev/clew/unwind"
)

// emulatedCore builds a program for another machine, runs it under qemu, and
// returns the program and the core that it left.
func emulatedCore(t *testing.T, e *testprogram.Emulation, source string, args []string, flags ...string) (program, path string) {
	t.Helper()
	program = e.Build(t, source, append([]string{"-O2", "-g"}, flags...)...)
	if source != "selfcore.c" {
		return program, testprogram.Core(t, testprogram.CoreOptions{Emulation: e}, program, args...)
	}
	path = filepath.Join(t.TempDir(), "core")
	cmd := exec.Command(testprogram.RequireTool(t, e.QEMU), "-L", e.Root(), program, path)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("%q did not crash: %s", cmd.Args, out)
	}
	return program, path
}

// Cores of emulated programs of other machines, which name no mapped files: the
// stacks lead through the functions that call each other in the source, at the
// lines where they do, also through a signal's frame on a stack of its own.
func TestCoresOfOtherMachines(t *testing.T) {
	tests := []struct {
		machine string
		source  string
		args    []string
		want    []string // from the end of the stack, main, inwards
	}{
		{"arm64", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"arm", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"arm", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"i386", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"i386", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"ppc64le", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"s390x", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"s390x", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"s390x", "chain.c", nil, []string{"main", "outer", "middle", "inner", "innermost"}},
		{"riscv64", "selfcore.c", nil, []string{"main", "outer", "middle", "inner", "fault", "<signal handler called>", "handler", "fault"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(append([]string{test.machine, test.source}, test.args...), " "), func(t *testing.T) {
			want := test.want
			if want == nil {
				want = []string{"main", "interrupted", "do_fault", "fault", "<signal handler called>", "handler", "waiting"}
			}
			e := testprogram.Emulations[test.machine]
			program, path := emulatedCore(t, &e, test.source, test.args)
			c := openCore(t, path, &core.Options{Search: modulefile.Search{Root: e.Root()}, Program: program})
			s := c.Snapshot()
			if s.Machine.Name != test.machine || len(s.Threads) != 1 || s.Signal == nil || s.Signal.Thread != s.Threads[0].ID {
				t.Errorf("machine %s, %d threads, signal %+v", s.Machine.Name, len(s.Threads), s.Signal)
			}
			stack := &stacksOf(t, s)[0]
			if stack.Reason != unwind.EndOfStack || c.Missing() != nil {
				t.Errorf("%v: %v; missing %v", stack.Reason, stack.Err, c.Missing())
			}
			checkCalls(t, stack, program, testprogram.Path("programs/"+test.source), want)
		})
	}
}

// checkCalls fails unless the frames of a program are those of functions that
// call each other, outermost first, each at a line of the source where it
// names the one that it called.
func checkCalls(t *testing.T, stack *target.Stack, program, source string, want []string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var got []string
	callee := ""
	for i := range stack.Frames {
		f := &stack.Frames[i]
		name := report.FunctionName(f)
		if !f.Trampoline && (f.Object == nil || filepath.Base(f.Object.Name) != filepath.Base(program)) || name == "_start" {
			continue
		}
		got = append(got, name)
		if l := f.Location(); !f.Interrupted && !f.Trampoline && callee != "" {
			if l == nil || l.Line < 1 || l.Line > len(lines) || !strings.Contains(lines[l.Line-1], callee+"(") {
				t.Errorf("%s calls %s at %+v", name, callee, l)
			}
		}
		if callee = name; f.Trampoline {
			callee = ""
		}
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("functions %q, expected %q (%v: %v)", got, want, stack.Reason, stack.Err)
	}
}

// The same, compared with gdb. Such a core does not tell gdb where a program that
// is relocated lies, and its libraries: it is given that.
func TestCoresOfOtherMachinesEqualGDB(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb-multiarch")
	fixed, relocated := []string{"-static", "-no-pie"}, []string{"-pie"}
	tests := []struct {
		machine string
		source  string
		args    []string
		flags   []string
	}{
		{"arm64", "chain.c", nil, fixed},
		{"arm", "chain.c", nil, fixed},
		{"i386", "sighandler.c", []string{"fault", "altstack"}, fixed},
		{"s390x", "sighandler.c", []string{"null"}, fixed},
		{"s390x", "sighandler.c", []string{"fault", "altstack"}, relocated},
		{"ppc64le", "chain.c", nil, relocated},
		{"riscv64", "selfcore.c", nil, relocated},
	}
	for _, test := range tests {
		t.Run(test.machine+" "+test.flags[0], func(t *testing.T) {
			e := testprogram.Emulations[test.machine]
			program, path := emulatedCore(t, &e, test.source, test.args, test.flags...)
			if test.flags[0] == "-static" {
				c := openCore(t, path, &core.Options{Program: program})
				coreEqualsGDB(t, c, gdb, program, path)
				return
			}
			c := openCore(t, path, &core.Options{Search: modulefile.Search{Root: e.Root()}, Program: program})
			s := c.Snapshot()
			stack := &stacksOf(t, s)[0]
			theirs := gdbTells(t, gdb, append(placed(stack, program, e.Root()), "--core="+path)...)[s.Threads[0].ID]
			if last := len(theirs.Frames) - 1; last > 0 && theirs.Frames[last].PC == 0 {
				theirs.Frames = theirs.Frames[:last] // of ppc64le gdb shows the zero that ends a stack
			}
			compare(t, stack, column(s.Machine), theirs)
			leadsThrough(t, []target.Stack{*stack}, "main")
		})
	}
}

// placed returns arguments that tell gdb where the objects of a stack lie.
func placed(stack *target.Stack, program, root string) (args []string) {
	told := make(map[*target.Object]bool)
	for i := range stack.Frames {
		o := stack.Frames[i].Object
		if o == nil || told[o] {
			continue
		}
		told[o] = true
		verb, file := "add-symbol-file", filepath.Join(root, o.Name)
		if filepath.Base(o.Name) == filepath.Base(program) {
			verb, file = "symbol-file", program
		}
		args = append(args, "-ex", fmt.Sprintf("%s %s -o %#x", verb, file, o.Bias))
	}
	return args
}
