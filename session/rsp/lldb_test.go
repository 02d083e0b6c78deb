// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

type lldbTest struct {
	name     string
	build    build
	steps    []string
	commands []string
	want     []string
	ends     []string
}

// lldbRegisters are the registers that lldb prints and sets on each machine.
var lldbRegisters = map[string]lldbTest{
	"amd64": {"registers", static, []string{"call fib 3"},
		[]string{"register read --all", "register read rip", "register write xmm1 '{1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16}'", "register read xmm1 ymm1", "register write rbx 77", "register read rbx ebx", "detach"},
		[]string{"General Purpose Registers:", "rip = 0x.*fib", "fs_base = 0x", "Floating Point Registers:", "fctrl = 0x0000037f", "Vector Registers:", "mxcsr = 0x00001f80", "orig_rax",
			"xmm1 = {0x01 0x02 .* 0x10}", "ymm1 = {0x01 0x02 .* 0x10 0x00 .*}", "rbx = 0x000000000000004d", "ebx = 0x0000004d", "detached"},
		[]string{"fib returned 2"}},
	"arm64": {"registers", static, []string{"call fib 3"},
		[]string{"register read --all", "register read pc", "register write v1 '{1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16}'", "register read v1", "register write x19 77", "register read x19", "detach"},
		[]string{"General Purpose Registers:", "x0 = 0x0*3", "x30 = 0x.*session.return", "sp = 0x", "pc = 0x.*fib", "cpsr = 0x", "Vector Registers:", "v0 = {0x00 .*}", "fpsr = 0x00000000", "fpcr = 0x00000000", "tpidr = 0x",
			"pc = 0x.*fib", "v1 = {0x01 0x02 .* 0x10}", "x19 = 0x000000000000004d", "detached"},
		[]string{"fib returned 2"}},
}

// lldb gets the file of the program as an argument, and finds the generated code itself.
func TestLLDB(t *testing.T) {
	tests := []lldbTest{
		{"breakpoints", static, []string{"call loop 3", "word cube 3"},
			[]string{"breakpoint set -n add", "continue", "bt", "frame variable", "breakpoint delete -f", "finish", "next", "step", "breakpoint set -f target.c -l 34",
				"continue", "frame variable total", "breakpoint delete -f", "breakpoint set -n square", "continue", "bt", "breakpoint delete -f", "detach"},
			[]string{"stop reason = breakpoint 1.1", "frame #0: .*`add.a=0, b=0. at target.c:23", `frame #1: .*loop.n=3. at target.c:31`, "frame #2: .*session.return",
				"a = 0", "b = 0", "stop reason = step out", "Return value: .* = 0", `loop.n=3. at target.c:3\d`, `stop reason = step`, `at target.c:3\d`, "stop reason = breakpoint 2.1", "target.c:34", "total = 3",
				"square at words.fth:1", "frame #1: .*cube at words.fth:2", "frame #3: .*session.return", "detached"},
			[]string{"loop returned 3", `cube left \[27\]`}},
		{"pie", pie, []string{"call loop 3"},
			[]string{"breakpoint set -n add", "continue", "bt", "image lookup -s main.main", "detach"},
			[]string{"frame #0: .*`add.a=0, b=0. at target.c:23", `frame #1: .*loop.n=3.`, "1 symbols match", "detached"},
			[]string{"loop returned 3"}},
		{"cgo", cgo, []string{"call loop 3"},
			[]string{"breakpoint set -n add", "continue", "bt", "detach"},
			[]string{"frame #0: .*`add.a=0, b=0. at target.c:23", `frame #1: .*loop.n=3.`, "detached"},
			[]string{"loop returned 3"}},
		lldbRegisters[runtime.GOARCH],
		{"memory", static, []string{"call loop 4"},
			[]string{"breakpoint set -n add", "continue", "up", "expression total + n * 2", "expression i = 2", "target variable where text", "memory read -f d -s 4 -c 2 `&where`", "memory write -s 4 `&where` 9",
				"target variable where", "breakpoint delete -f", "detach"},
			[]string{"stop reason = breakpoint", `\(int\) \$0 = 8`, `\(int\) \$1 = 2`, "where = .x = 3, y = 4.", `text = "some text"`, ": 3", "where = .x = 9, y = 4.", "detached"},
			[]string{"loop returned 3"}}, // of 0 and 3
		{"watchpoint", static, []string{"call loop 3"},
			[]string{"watchpoint set variable counter", "continue", "continue", "continue", "watchpoint delete -f", "detach"},
			[]string{"Watchpoint created", "Watchpoint 1 hit:\nold value: 0\nnew value: 0", "Watchpoint 1 hit:\nold value: 0\nnew value: 1", "Watchpoint 1 hit:\nold value: 1\nnew value: 3", "detached"},
			[]string{"loop returned 3"}},
		{"fault", static, []string{"call fault 4"},
			[]string{"process handle SIGSEGV -p false", "continue", faulted + "bt", faulted + "register write RESULT `&somewhere`", faulted + "continue"},
			[]string{"stop reason = signal SIGSEGV", "frame #0: .*fault.n=4. at target.c:46", "Process .* resuming"},
			[]string{"fault returned 81"}},
		{"new symbols", static, []string{"call fib 2", "load LATE", "call late 20"},
			[]string{"breakpoint set -n late", "continue", "bt", "frame variable", "finish", "detach"},
			[]string{"no locations .pending.", "frame #0: .*late.n=20. at late.c:5", "frame #1: .*session.return", "n = 20", "Return value: .* = 41", "detached"},
			[]string{"late returned 41"}},
		{"exit", static, []string{"call leave 7"},
			[]string{"continue"},
			[]string{"exited with status = 7"},
			[]string{"leave ended: exited with code 7"}},
		{"kill", static, []string{"call fib 3", "call fib 4"},
			[]string{"process kill"},
			[]string{"exited with status = 9"},
			[]string{"fib ended: aborted", "fib returned 3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps := append([]string{"-wait"}, test.steps...)
			for i := range steps {
				steps[i] = strings.ReplaceAll(steps[i], "LATE", object(t, "late"))
			}
			if n := slices.Index(test.commands, "finish"); n >= 0 && test.name == "new symbols" && runtime.GOARCH == "arm64" {
				// There lldb mistakes the step off a breakpoint, in a function without a frame record, for the
				// return from the function.
				test.commands = slices.Insert(slices.Clone(test.commands), n, "breakpoint delete -f")
			}
			p := launch(t, test.build, ":0", steps...)
			inOrder(t, p.lldb(test.commands...), test.want...)
			p.ends(test.ends...)
		})
	}
}
