// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// ^C and "process interrupt" stop code that loops, and code that lldb itself has
// called. Afterwards the program continues.
func TestLLDBInterrupt(t *testing.T) {
	p := launch(t, static, ":0", "-wait", "call spin 1", "call fib 6")
	_, port, _ := strings.Cut(p.address, ":")
	term, _ := testprogram.StartTerminal(t, patiently(t, testprogram.RequireTool(t, "lldb-14"), "--no-lldbinit", "--no-use-colors",
		"-O", "settings set use-color false", "-O", "settings set plugin.jit-loader.gdb.enable on", "-o", "gdb-remote "+port, p.cmd.Path), 60, 200)
	term.Expect(`spin\(n=.*target.c`)
	term.Send("breakpoint set -n spin\n")
	term.Expect("Breakpoint 1: where")
	term.Send("continue\n")
	term.Expect(`stop reason = breakpoint 1.1`)
	// lldb would first step off the breakpoint, and ^C would end that step.
	term.Send("breakpoint delete 1\n")
	term.Expect(`1 breakpoints deleted`)
	term.Send("continue\n")
	term.Expect(`Process \d+ resuming`)
	testprogram.AwaitWork(t, p.cmd.Process.Pid) // what it says comes before it does so
	term.Send("\x03")
	term.Expect(`stop reason = signal SIGINT`)
	term.Send("bt\n")
	term.Expect(`frame #0: .*spin\(n=\d+\) at target.c`)
	term.Expect(`frame #1: .*session.return`)
	term.Send("p n > 1 && add(n, 0) == n\n")
	term.Expect(`\(bool\) \$0 = true`)
	term.Send("continue\n")
	term.Expect(`Process \d+ resuming`)
	testprogram.AwaitWork(t, p.cmd.Process.Pid)
	term.Send("process interrupt\n")
	term.Expect(`stop reason = signal SIGINT`)
	// A function that lldb calls does not end within its half second.
	term.Send("expression -t 500000 -- spin(100)\n")
	term.Expect("(?i)timed out|interrupted")
	term.Send("bt\n")
	term.Expect(`frame #0: .*spin\(n=\d+\) at target.c`)
	term.Expect(`frame #1: .*session.return`)
	term.Send("expression go_on = 0\n")
	term.Expect(`= 0`)
	term.Send("detach\n")
	term.Expect(`Process \d+ detached`)
	p.ends("spin returned 5", "fib returned 8")
}
