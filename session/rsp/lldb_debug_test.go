// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"strings"
	"testing"
)

// lldb calls functions with code that it compiles into memory of the program, also in a program
// with the C library.
func TestLLDBCalls(t *testing.T) {
	calls := []string{"breakpoint set -n add", "continue", "p add(3,4)", "expression half(5.0)", "expression add(where.x, 2)", `expression "abc"`,
		"expression point q = {1, 2}; q.x + q.y", "expression int $k = 7", "expression fib(5) + $k", `expression add((int)__builtin_strlen("four"), 1)`, "expression where", "expression *nowhere",
		"bt", "breakpoint delete -f", "detach"}
	called := []string{`stop reason = breakpoint 1\.\d`, // C also has a function add
		`\(int\) \$0 = 7`, `\(double\) \$1 = 2.5`, `\(int\) \$2 = 5`, `= "abc"`, "= 3", "= 12", "= 5", "x = 3, y = 4",
		"error: .*couldn't read its memory", "frame #0: .*add.a=0, b=0.", "frame #1: .*loop.n=3.", "detached"}
	for _, b := range buildsOfDay(t) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, b, ":0", "-wait", "call loop 3", "call fib 6")
			inOrder(t, p.lldbAll(calls...), called...)
			p.ends("loop returned 3", "fib returned 8")
		})
	}
	t.Run("while nothing is called", func(t *testing.T) {
		t.Parallel()
		p := launch(t, static, ":0", "linger", "call loop 3")
		inOrder(t, p.lldb("p add(40, 2)", "expression where.y = half(18.0)", "p where", "bt", "detach"), "= 42", "= 9", "y = 9", "frame #0: .*clew_idle", "detached")
		p.ends("loop returned 3")
	})
	// The breakpoint in the called function stops it. On busy processors lldb's finish
	// sometimes continues to the end of the expression, with lldb-server too (8 of 12 runs).
	t.Run("stopped in", func(t *testing.T) {
		t.Parallel()
		var out string
		for range 20 {
			p := launch(t, static, ":0", "-wait", "call loop 3")
			out = p.lldbAll("breakpoint set -n fib", "expression -i false -- fib(2)", "bt", "breakpoint delete -f", "finish", "thread return -x", "bt", "p add(1, 2)", "detach")
			p.ends("loop returned 3")
			if !strings.Contains(out, "stop reason = User Expression thread plan") {
				break
			}
		}
		inOrder(t, out, "Execution was interrupted, reason: breakpoint 1.1", "fib.n=2.", "frame #1: ", "stop reason = step out", `frame #0: .*lldb_expr`, `frame #0: .*loop.n=`, "= 3", "detached")
	})
	// If a debugger dies while a function that it has called runs, the function does not continue: it
	// would return to the entry point of this program.
	t.Run("left", func(t *testing.T) {
		t.Parallel()
		p := launch(t, static, ":0", "-wait", "call loop 3", "call fib 6", "linger")
		inOrder(t, p.lldbAll("breakpoint set -n fib", "expression -i false -- fib(2)", "bt", "platform shell -h -- kill -9 $PPID"), "reason: breakpoint 1.1", "fib.n=2.")
		p.says("loop ended: aborted", "fib returned 8")
		inOrder(t, p.lldb("p add(1, 2)", "detach"), "= 3", "detached")
		p.ends()
	})
}

// Other commands of lldb 14, with the same results as for a program that it starts.
func TestLLDBDebugs(t *testing.T) {
	tests := []struct {
		name     string
		steps    []string
		commands []string
		want     []string
		ends     []string
	}{
		{"conditions", []string{"call fib 8"},
			[]string{"breakpoint set -n fib", "breakpoint modify -c 'n == 3' 1", "continue", "p n", "bt", "breakpoint modify -i 2 1", "continue", "breakpoint list", "p n",
				"breakpoint modify -i 0 -c 'add(n, 1) == 2 && half(n) == 0.5' 1", "continue", "p n", "breakpoint modify -c 'n == 12345' 1", "continue"},
			[]string{"stop reason = breakpoint 1.1", `\$0 = 3`, "frame #0: .*fib.n=3.", "frame #1: .*fib.n=", "stop reason = breakpoint 1.1", "hit count = 4", "= 3",
				"stop reason = breakpoint 1.1", "= 1", "exited with status = 0"},
			[]string{"fib returned 21"}},
		{"one shot", []string{"call fib 6"},
			[]string{"breakpoint set -o true -n fib -c 'n == 2'", "continue", "p n", "breakpoint list", "continue"},
			[]string{"stop reason = one-shot breakpoint 1", "= 2", "No breakpoints currently set", "exited with status = 0"},
			[]string{"fib returned 8"}},
		{"commands of a breakpoint", []string{"call fib 4"},
			[]string{"breakpoint set -n fib -G true -C 'p n'", "continue"},
			[]string{"= 4", "= 3", "= 2", "= 1", "= 0", "= 1", "= 2", "= 1", "= 0", "exited with status = 0"},
			[]string{"fib returned 3"}},
		{"watchpoints", []string{"call loop 6"},
			[]string{"watchpoint set variable counter", "watchpoint modify -c 'counter == 3'", "continue", "p counter", "watchpoint modify -c ''", "continue", "p counter", "watchpoint delete -f",
				"watchpoint set variable -w read_write total", "watchpoint modify -c 'total == 10'", "continue", "p total", "watchpoint delete -f", "watchpoint set expression -s 4 -- &where.y", "watchpoint ignore -i 5 4", "expression where.y = 12", "continue"},
			[]string{"Watchpoint created: Watchpoint 1", "Watchpoint 1 hit:", "new value: 3", "stop reason = watchpoint 1", "= 3", "old value: 3\nnew value: 6", "= 6", "Watchpoint created", "stop reason = watchpoint", "= 10", "Watchpoint created", "exited with status = 0"},
			[]string{"loop returned 15"}},
		{"steps", []string{"call loop 4"},
			[]string{"breakpoint set -n add", "continue", "step", "step", "finish", "thread step-inst", "thread step-inst-over", "breakpoint delete -f", "next", "next", "step",
				"thread until 24", "bt", "thread step-out", "thread step-over", "next", "next", "step", "register read pc", "finish", "finish", "bt", "detach"},
			[]string{"stop reason = breakpoint", "stop reason = step in", "target.c:24", "stop reason = step in", "target.c:25", "stop reason = step out", "Return value: .* = 0", "target.c:31", "stop reason = instruction step into", "stop reason = instruction step over",
				"stop reason = step over", "target.c:30", "stop reason = step over", "target.c:31", "stop reason = step in", "add.a=0, b=1. at target.c:23", "stop reason = step until", "target.c:24", "frame #1: .*loop.n=4.",
				"stop reason = step out", "Return value: .* = 1", "target.c:31", "stop reason = step over", "target.c:32", "target.c:30", "target.c:31", "stop reason = step in", "add.a=1, b=2. at target.c:23", "(rip|pc) = 0x.*add",
				"Return value: .* = 3", "Return value: .* = 6", "session.return", "detached"},
			[]string{"loop returned 6"}},
		{"variables and registers", []string{"call loop 4"},
			[]string{"breakpoint set -n add", "continue", "expression a = 100", "frame variable a", "breakpoint delete -f", "finish", "register write RESULT 1000", "next", "frame variable total", "expression total += 1", "expression counter = 5", "expression text[0] = 'S'",
				"target variable text", "memory write -s 1 `&text[1]` 0x4f", "p (char *)text", "expression i = 3", "continue"},
			[]string{"= 100", "a = 100", "Return value: .* = 100", "total = 1000", "= 1001", "= 5", "'S'", `"Some text"`, `"SOme text"`, "= 3", "exited with status = 0"},
			[]string{"loop returned 1001"}},
		{"at the end of the call", []string{"call fib 3", "call add 3 4"},
			[]string{"finish", "bt", "p add(3, 5)", "register write RESULT 22", "thread step-inst", "bt", "p add(4, 5)", "continue"},
			[]string{"stop reason = step out", "= 2", "session.return", "= 8", "frame #0: .*`add", "= 9", "exited with status = 0"},
			[]string{"fib returned 22", "add returned 7"}},
		{"detach", []string{"call loop 4", "call fib 3"},
			[]string{"breakpoint set -n add -c 'b == 2'", "watchpoint set variable counter", "watchpoint modify -c 'counter == 77'", "continue", "p add(a, b)", "detach"},
			[]string{"stop reason = breakpoint 1.1", "= 3", "detached"},
			[]string{"loop returned 6", "fib returned 2"}},
		{"left", []string{"call loop 4", "call fib 3"},
			[]string{"breakpoint set -n add", "settings set target.process.detach-keeps-stopped false", "continue"},
			[]string{"stop reason = breakpoint 1.1"},
			[]string{"fib returned 2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, static, ":0", append([]string{"-wait"}, test.steps...)...)
			out := p.lldb(test.commands...)
			inOrder(t, out, test.want...)
			if strings.Contains(out, "unexpected state") {
				t.Errorf("lldb does not understand a stop:\n%s", out)
			}
			p.ends(test.ends...)
		})
	}
}
