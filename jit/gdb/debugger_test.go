// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// These are the names that gdb prints for the generated functions.
var (
	gdbInner  = `^#0 .*\bjit_inner \(\) at /src/labyrinth\.jit:2\d`
	gdbMiddle = `^#1 .*\bjit_middle \(\) at /src/labyrinth\.jit:13`
	gdbOuter  = `^#2 .*\bjit_outer \(\) at /src/labyrinth\.jit:2`
	gdbGo     = []string{`^#3 .*\bmain\.call(\.abi0)? \(\)`, `^#\d+ .*\bmain\.main \(\)`}
)

// stack is the stack from the generated functions to main.main.
func (b build) stack() []string {
	parts := []string{gdbInner, gdbMiddle, gdbOuter}
	if b.bare {
		return append(parts, `^#3 .*\bmain\.call(\.abi0)? \(\)`)
	}
	return append(parts, gdbGo...)
}

// interrupted is the stack of a thread that can be in a signal handler.
func (b build) interrupted() []string {
	parts := b.stack()
	for k := range parts {
		parts[k] = frameNumber.ReplaceAllString(parts[k], `^#\d+ `)
	}
	return parts
}

var frameNumber = regexp.MustCompile(`^\^#\d `)

// gdb stops at a breakpoint that was set before its function existed, and at a line.
// It walks through generated code to main.main and steps by line. All this still works
// after the symbol file was merged with others. After Withdraw gdb knows nothing of
// it. Two functions of Go serve as stops, because a goroutine that is preempted at a
// breakpoint hits it again on another thread.
func TestGDB(t *testing.T) {
	for _, b := range buildsOfDay(t) {
		t.Run(b.name, func(t *testing.T) {
			program := b.path(t)
			arguments := []string{"--args", program, "publish", "call", "many=100", "call", "withdraw=2", "mark", "withdraw", "goal", "call"}
			if b.hidden {
				// gdb finds no descriptor, and therefore no name.
				out := debug(t, []string{"break jit_inner", "run"}, arguments...)
				inOrder(t, out, "Breakpoint 1 .jit_inner. pending", "result 42", "result 42", "result 42")
				return
			}
			out := debug(t, []string{"break jit_inner", "tbreak labyrinth.jit:14", "run", "bt", "next", "next", "bt 3", "continue", "bt 2", "continue",
				"bt", "disable 1", "tbreak 'main.mark'", "continue", "info address jit_inner", "info address jit_outer",
				"tbreak 'main.goal'", "continue", "info address jit_outer", "enable 1", "continue"}, arguments...)
			parts := append([]string{"Breakpoint 1 .jit_inner. pending", "Temporary breakpoint 2 .labyrinth.jit:14. pending", "hit Breakpoint 1, .*jit_inner"}, b.stack()...)
			parts = append(parts, `^2[34]\s`, gdbInner, gdbMiddle, gdbOuter,
				`hit Temporary breakpoint 2, .*jit_middle`, `^#0 .*jit_middle \(\) at /src/labyrinth\.jit:14`, "^result 42",
				"hit Breakpoint 1, .*jit_inner")
			parts = append(parts, b.stack()...)
			parts = append(parts, "^result 42", `\bmain[.[]mark`, `No symbol "jit_inner" in current context`, `Symbol "jit_outer" is `,
				`\bmain[.[]goal`, `No symbol "jit_outer" in current context`, "^result 42")
			inOrder(t, out, parts...)
		})
	}
}

// lldb does the same.
func TestLLDB(t *testing.T) {
	for _, b := range buildsOfDay(t) {
		t.Run(b.name, func(t *testing.T) {
			program := b.path(t)
			arguments := []string{"--", program, "publish", "call", "many=100", "call", "withdraw=2", "mark", "withdraw", "mark", "call"}
			if b.hidden {
				out := lldb(t, []string{"breakpoint set -n jit_inner", "run"}, arguments...)
				inOrder(t, out, `Breakpoint 1: no locations \(pending\)`, "result 42", "result 42", "result 42")
				return
			}
			out := lldb(t, []string{"breakpoint set -n jit_inner", "breakpoint set -o true -f labyrinth.jit -l 14", "run", "bt", "next", "next", "bt 3",
				"continue", "bt 2", "continue", "bt", "breakpoint disable 1", "breakpoint set -o true -n main.mark", "continue",
				"breakpoint set -n jit_inner", "breakpoint set -n jit_outer", "breakpoint set -o true -n main.mark", "continue",
				"breakpoint set -n jit_outer", "continue"}, arguments...)
			stack := []string{`frame #0: .*\bjit_inner at labyrinth\.jit:2\d`, `frame #1: .*\bjit_middle\b.* at labyrinth\.jit:13`, `frame #2: .*\bjit_outer\b.* at labyrinth\.jit:2`, `frame #3: .*\bmain\.call\b`}
			if !b.bare {
				stack = append(stack, `frame #\d+: .*\bmain\.main\b`)
			}
			parts := append([]string{`Breakpoint 1: no locations \(pending\)`, `^\(lldb\) bt`}, stack...)
			parts = append(parts, `^\(lldb\) next`, `jit_inner at labyrinth\.jit:2[34]`, `^\(lldb\) bt 3`, stack[0], stack[1], stack[2],
				`^\(lldb\) continue`, `jit_middle at labyrinth\.jit:14`, `^\(lldb\) continue`, `^\(lldb\) bt$`)
			parts = append(parts, stack...)
			parts = append(parts, `breakpoint set -n jit_inner\nBreakpoint \d: no locations`, `breakpoint set -n jit_outer\nBreakpoint \d: where = JIT.*jit_outer`,
				`breakpoint set -n jit_outer\nBreakpoint \d: no locations`)
			inOrder(t, out, parts...)
		})
	}
}

// A debugger that attaches to a running program finds the functions published before.
func TestAttach(t *testing.T) {
	for _, b := range buildsOfDay(t) {
		if b.hidden {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			p := testprogram.Start(t, b.path(t), "many=70", "publish", "many=200", "wait")
			p.Settle(t)
			inOrder(t, debug(t, []string{"thread apply all bt"}, "-p", strconv.Itoa(p.PID)), b.interrupted()...)
			if b.bare {
				return
			}
			t.Run("lldb", func(t *testing.T) {
				inOrder(t, lldb(t, []string{"bt all"}, "-p", strconv.Itoa(p.PID)),
					`frame #\d+: .*\bjit_inner\b.* at labyrinth\.jit:23`, `frame #\d+: .*\bjit_middle\b`, `frame #\d+: .*\bjit_outer\b`, `frame #\d+: .*\bmain\.main\b`)
			})
		})
	}
}

// A program that publishes on demand registers its functions when a debugger that attached lets
// it run, in one file.
func TestAttachOnDemand(t *testing.T) {
	program := builds[0].path(t)
	p := testprogram.Start(t, program, "demand=20", "publish", "many=200", "stats", "wait")
	p.Settle(t)
	out := debug(t, []string{"info address jit_inner", "tbreak *__jit_debug_register_code", "continue", "thread apply all bt",
		"info line many_150", "tbreak *__jit_debug_register_code"}, "-p", strconv.Itoa(p.PID))
	parts := append([]string{`No symbol "jit_inner" in current context`, `hit Temporary breakpoint 1`}, builds[0].interrupted()...)
	inOrder(t, out, append(parts, `^Line 1150 of "/src/labyrinth.jit"`)...)

	// With a debugger from the start nothing is delayed.
	inOrder(t, debug(t, []string{"break jit_inner", "run", "bt"}, "--args", program, "demand=1000000", "publish", "call"), builds[0].stack()...)
	inOrder(t, lldb(t, []string{"breakpoint set -n jit_inner", "run", "bt"}, "--", program, "demand=1000000", "publish", "call"),
		`frame #0: .*\bjit_inner at labyrinth\.jit:2\d`, `frame #1: .*\bjit_middle\b`)
}

// gdb and lldb find the list in a core, whether gdb or the kernel wrote it.
func TestCore(t *testing.T) {
	for _, b := range sample.Of(t, builds[:3], 1) {
		t.Run(b.name, func(t *testing.T) {
			program := b.path(t)
			p := testprogram.Start(t, program, "publish", "many=200", "wait")
			p.Settle(t)
			core := filepath.Join(t.TempDir(), "core")
			debug(t, []string{"gcore " + core}, "-p", strconv.Itoa(p.PID))
			inOrder(t, debug(t, []string{"thread apply all bt"}, program, core), b.interrupted()...)

			t.Run("lldb", func(t *testing.T) {
				inOrder(t, lldb(t, []string{"bt all"}, "-c", core, program),
					`frame #\d+: .*\bjit_inner\b.* at labyrinth\.jit:23`, `frame #\d+: .*\bjit_middle\b`, `frame #\d+: .*\bjit_outer\b`, `frame #\d+: .*\bmain\.main\b`)
			})
			t.Run("kernel", func(t *testing.T) {
				inOrder(t, debug(t, []string{"bt"}, program, kernelCore(t, program)), b.stack()...)
			})
		})
	}
}

// kernelCore makes the program crash in generated code and returns the core.
func kernelCore(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited && exec "$0" "$@"`, program, "publish", "many=200", "crash")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(err.Error(), "illegal instruction") {
		t.Fatalf("the program did not crash: %v\n%s", err, out)
	}
	cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(cores) == 0 {
		pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
		t.Skipf("skipped: the kernel writes cores elsewhere, to %s", strings.TrimSpace(string(pattern)))
	}
	return cores[0]
}

// No signal arrives between a debugger and the function where it stops: Go's
// preemption would make gdb step over its breakpoint again and again.
func TestSignalsWait(t *testing.T) {
	out := debug(t, []string{"break *__jit_debug_register_code", "run",
		"python print(open('/proc/%d/task/%d/status' % (gdb.selected_thread().ptid[0], gdb.selected_thread().ptid[1])).read())"},
		"--args", builds[0].path(t), "publish")
	if strings.Contains(out, "Python scripting is not supported") {
		t.Skip("skipped: gdb with Python is not installed")
	}
	// All except SIGKILL, SIGSTOP, and those that an instruction raises itself.
	blocked := ^uint64(0)
	for _, signal := range []int{9, 19, 4, 5, 6, 7, 8, 11, 31} {
		blocked &^= 1 << (signal - 1)
	}
	inOrder(t, out, fmt.Sprintf("^SigBlk:\t%016x", blocked))
}
