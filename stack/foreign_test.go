// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// emulatedCore builds a program for another machine, runs it under qemu, and returns the
// program and its core.
func emulatedCore(t *testing.T, e *testprogram.Emulation, source string, args []string, flags ...string) (program, path string) {
	t.Helper()
	program = e.Build(t, source, append([]string{"-O2", "-g"}, flags...)...)
	if source != "selfcore.c" {
		return program, testprogram.Core(t, testprogram.CoreOptions{Emulation: e}, program, args...)
	}
	return program, selfCore(t, e, program)
}

// selfCore runs a program of selfcore.c under qemu, and returns the core that it wrote.
func selfCore(t *testing.T, e *testprogram.Emulation, program string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	cmd := exec.Command(testprogram.RequireTool(t, e.QEMU), "-L", e.Root(), program, path)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("%q did not crash: %s", cmd.Args, out)
	}
	return path
}

// Cores of emulated programs of other machines name no mapped files. The stacks contain the
// functions that call each other in the source, with the lines of the calls, also through the
// frame of a signal on a stack of its own.
func TestCoresOfOtherMachines(t *testing.T) {
	selfcore := []string{"main", "outer", "middle", "inner", "fault", "<signal handler called>", "handler", "fault"}
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
		{"riscv64", "selfcore.c", nil, selfcore},
		{"ppc", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"ppc", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"ppc64", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"mips", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"mips", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"mips64", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"m68k", "sighandler.c", []string{"fault", "siginfo"}, nil},
		{"m68k", "sighandler.c", []string{"fault", "altstack"}, nil},
		{"sparc64", "selfcore.c", nil, selfcore},
	}
	for _, test := range tests {
		t.Run(strings.Join(append([]string{test.machine, test.source}, test.args...), " "), func(t *testing.T) {
			want := test.want
			if want == nil {
				want = []string{"main", "interrupted", "do_fault", "fault", "<signal handler called>", "handler", "waiting"}
			}
			e := testprogram.Emulations[test.machine]
			program, path := emulatedCore(t, &e, test.source, test.args)
			c := stacktest.OpenCore(t, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program})
			s := c.Snapshot()
			if s.Machine.Name != test.machine || len(s.Threads) != 1 || s.Signal == nil || s.Signal.Thread != s.Threads[0].ID {
				t.Errorf("machine %s, %d threads, signal %+v", s.Machine.Name, len(s.Threads), s.Signal)
			}
			stack := &stacktest.Stacks(t, s)[0]
			if !stack.Whole() || c.Missing() != nil {
				t.Errorf("%v: %v; missing %v", stack.Reason, stack.Err, c.Missing())
			}
			checkCalls(t, stack, program, testprogram.Path("programs/"+test.source), want)
		})
	}
}

// checkCalls fails unless the frames of a program, outermost first, are those of functions
// that call each other, each at the source line of the call.
func checkCalls(t *testing.T, walked *stack.Stack, program, source string, want []string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var got []string
	callee := ""
	for i := range walked.Frames {
		f := &walked.Frames[i]
		name := trace.FunctionName(f)
		if !f.Trampoline && (f.Object == nil || filepath.Base(f.Object.Name) != filepath.Base(program)) || strings.HasSuffix(name, "_start") {
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
		t.Errorf("functions %q, expected %q (%v: %v)", got, want, walked.Reason, walked.Err)
	}
}

// The same, compared with gdb. gdb needs arguments with the places of a relocated program and
// its libraries, which such a core does not contain.
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
		{"ppc", "sighandler.c", []string{"fault", "altstack"}, fixed},
		{"ppc", "chain.c", nil, relocated},
		{"ppc64", "chain.c", nil, fixed},
		{"mips", "chain.c", nil, fixed},
		{"mips", "chain.c", nil, relocated},
		{"mips64", "chain.c", nil, fixed},
	}
	for _, test := range tests {
		t.Run(test.machine+" "+test.flags[0], func(t *testing.T) {
			e := testprogram.Emulations[test.machine]
			program, path := emulatedCore(t, &e, test.source, test.args, test.flags...)
			c := stacktest.OpenCore(t, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program})
			s := c.Snapshot()
			walked := &stacktest.Stacks(t, s)[0]
			args := []string{program, path}
			if test.flags[0] != "-static" {
				args = append(placed(walked, program, e.Root()), "--core="+path)
			}
			gdbs := gdbReports(t, gdb, args...)[s.Threads[0].ID]
			if last := len(gdbs.Frames) - 1; last > 0 && gdbs.Frames[last].PC == 0 {
				gdbs.Frames = gdbs.Frames[:last] // of PowerPC gdb shows the zero that ends a stack
			}
			for i := range gdbs.Frames {
				// Functions of ppc64 have a second symbol, for their code.
				gdbs.Frames[i].Name = strings.TrimPrefix(gdbs.Frames[i].Name, ".")
			}
			compare(t, walked, column(s.Machine), gdbs)
			through := slices.ContainsFunc(walked.Frames, func(f stack.Frame) bool { return f.Symbol.Name == "main" })
			if !walked.Whole() || !through || c.Missing() != nil {
				t.Errorf("%v: %v; through main %t; missing %v", walked.Reason, walked.Err, through, c.Missing())
			}
		})
	}
}

// Cores of machines whose cores gdb cannot read, compared with gdb attached to the emulator,
// where the same program does the same: functions and addresses from the faulting function
// outwards.
func TestCoresOfOtherMachinesEqualRemoteGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb-multiarch")
	for _, test := range []struct {
		machine, source, innermost string
		args                       []string
	}{
		{"m68k", "crash.c", "do_segv", []string{"segv"}},
		{"m68k", "crash.c", "do_fpe", []string{"fpe"}},
		{"sparc64", "selfcore.c", "fault", []string{os.DevNull}},
	} {
		t.Run(test.machine+" "+test.source, func(t *testing.T) {
			e := testprogram.Emulations[test.machine]
			program := e.Build(t, test.source, "-O2", "-g", "-static", "-no-pie")
			path := ""
			if test.source == "selfcore.c" {
				path = selfCore(t, &e, program)
			} else {
				path = testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, program, test.args...)
			}
			stack := &stacktest.Stacks(t, stacktest.OpenCore(t, path, &core.Options{Program: program}).Snapshot())[0]
			// The last signal: the one of selfcore.c crashes again in a signal handler.
			first := 0
			for i := range stack.Frames {
				if stack.Frames[i].Symbol.Name == test.innermost {
					first = i
				}
			}
			var got, want []string
			for i := first; i < len(stack.Frames); i++ {
				f := &stack.Frames[i]
				got = append(got, fmt.Sprintf("%#x %s", f.PC, trace.FunctionName(f)))
			}
			gdbs := gdbOfEmulated(t, &e, program, test.args...)
			for i := range gdbs.Frames {
				if f := &gdbs.Frames[i]; f.Kind != "inline" {
					want = append(want, fmt.Sprintf("%#x %s", f.PC, f.Name))
				}
			}
			if !slices.Equal(got, want) || len(got) < 4 {
				t.Errorf("frames %q, gdb has %q (%s)", got, want, gdbs.Error)
			}
		})
	}
}

// Functions without call frame information are unwound by the back chain of the ABI of
// PowerPC, and that of s390 if the compiler is asked for it: in frames after those of the C
// library, which has rules, and after a leaf that crashed.
func TestBackChain(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb-multiarch")
	bare := []string{"-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-static", "-no-pie"}
	chain := []string{"innermost", "inner", "middle", "outer", "main"}
	for _, test := range []struct {
		machine string
		flags   []string
		found   bool
	}{
		{"ppc64", nil, true},
		{"ppc64le", nil, true},
		{"ppc", nil, true},
		{"s390x", []string{"-mbackchain"}, true},
		{"s390x", nil, false},
	} {
		t.Run(strings.Join(append([]string{test.machine}, test.flags...), " "), func(t *testing.T) {
			e := testprogram.Emulations[test.machine]
			open := func(source string, opts testprogram.CoreOptions, args ...string) (*stack.Stack, gdbStack) {
				program := e.Build(t, source, append(bare, test.flags...)...)
				path := testprogram.Core(t, opts, program, args...)
				s := stacktest.OpenCore(t, path, &core.Options{Program: program}).Snapshot()
				stack := stacktest.Stacks(t, s)[0]
				return &stack, gdbReports(t, gdb, program, path)[s.Threads[0].ID]
			}
			stack, gdbs := open("chain.c", testprogram.CoreOptions{Emulation: &e})
			var got []string
			for i := range stack.Frames {
				f := &stack.Frames[i]
				got = append(got, f.Symbol.Name)
				// The caller of innermost is the first frame found by the back chain.
				if k := slices.Index(chain, f.Symbol.Name); k > 0 && f.Method != unwind.FromBackChain {
					t.Errorf("%s was found by %v", f.Symbol.Name, f.Method)
				}
				if test.found && (i >= len(gdbs.Frames) || gdbs.Frames[i].PC != f.PC) {
					t.Errorf("frame %d is at %#x, gdb has %+v", i, f.PC, gdbs.Frames)
				}
			}
			text := " " + strings.Join(got, " ") + " "
			if found := strings.Contains(text, " "+strings.Join(chain, " ")+" __libc_start_call_main "); found != test.found {
				t.Errorf("functions %q (%v: %v)", got, stack.Reason, stack.Err)
			}
			if test.found != (stack.Reason == unwind.EndOfStack) {
				t.Errorf("%v: %v", stack.Reason, stack.Err)
			}
			if !test.found {
				return
			}
			// A leaf has no frame. Its caller's frame is at the stack pointer.
			stack, _ = open("crash.c", testprogram.CoreOptions{Emulation: &e, Crashes: true}, "segv")
			got = nil
			for i := range stack.Frames {
				got = append(got, stack.Frames[i].Symbol.Name)
			}
			if len(got) < 2 || got[0] != "do_segv" || got[1] != "main" {
				t.Errorf("functions %q (%v: %v)", got, stack.Reason, stack.Err)
			}
		})
	}
}

// gdbOfEmulated returns gdb's stack at the first signal of a program that runs under qemu.
func gdbOfEmulated(t *testing.T, e *testprogram.Emulation, program string, args ...string) gdbStack {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "gdb")
	cmd := exec.Command(testprogram.RequireTool(t, e.QEMU), append([]string{"-g", socket, program}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for range 12_000 { // two minutes
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := gdbReports(t, "gdb-multiarch", program, "-ex", "target remote "+socket, "-ex", "continue")
	for _, s := range stacks {
		return s
	}
	t.Fatal("gdb has no thread")
	return gdbStack{}
}

// placed returns arguments that give gdb the addresses of the objects of a stack.
func placed(walked *stack.Stack, program, root string) (args []string) {
	placed := make(map[*stack.Object]bool)
	for i := range walked.Frames {
		o := walked.Frames[i].Object
		if o == nil || placed[o] {
			continue
		}
		placed[o] = true
		verb, file := "add-symbol-file", filepath.Join(root, o.Name)
		if filepath.Base(o.Name) == filepath.Base(program) {
			verb, file = "symbol-file", program
		}
		args = append(args, "-ex", fmt.Sprintf("%s %s -o %#x", verb, file, o.Bias))
	}
	return args
}
