// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// end is the last frame of a stack in gdb.
const end = `session[.[]return.*\(\)`

// After a plain "target remote", gdb has the symbols of the Go program and of the session's
// images, in every build of the program.
func TestGDBSymbols(t *testing.T) {
	host := map[string]string{"amd64": `Symbol "main.main" is a function at`, "arm64": `Symbol "main.main" is at .* compiled without debugging`}[runtime.GOARCH]
	for _, b := range buildsOfDay(t) {
		t.Run(b.name, func(t *testing.T) {
			p := launch(t, b, ":0", "-wait", "call loop 4", "word cube 3")
			out := p.gdb("info line add", "info address main.main", "break add", "continue", "bt",
				"info breakpoints", "delete", "break cube", "continue", "bt", "tbreak square", "continue", "bt", "delete", "continue")
			inOrder(t, out, `Line 22 of ".*target.c" starts`, host,
				"Breakpoint 1, add .a=0, b=0. at .*target.c:23", `^#0  add`, `^#1 .* in loop \(n=4\) at .*target.c:31`, "^#2 .*"+end,
				"already hit 1 time",
				"Breakpoint 2, cube .. at .*words.fth:2", "^#0  cube", "^#1 .*forth", "^#2 .*"+end,
				"Temporary breakpoint 3, square", "^#0  square", "^#1 .* cube .. at .*words.fth:2", end,
				"exited normally")
			if strings.Contains(out, "??") {
				t.Errorf("a frame without a name in\n%s", out)
			}
			p.ends("loop returned 6", `cube left \[27\]`)
		})
	}
}

// Through a Unix socket.
func TestGDBSocket(t *testing.T) {
	p := launch(t, static, "unix:"+filepath.Join(t.TempDir(), "socket"), "-wait", "call fib 6")
	inOrder(t, p.gdb("break 14 if n == 1", "continue", "p n", "detach"), "Breakpoint 1, fib .n=1.", "= 1", "detached")
	p.ends("fib returned 8")
}

// A gdbTest has commands for gdb, and the output of gdb and of the program. RESULT stands for the
// register of results, SIZE for the size of the instruction at which fault faults.
type gdbTest struct {
	name     string
	steps    []string
	commands []string
	want     []string
	ends     []string
}

var ofMachine = map[string]*strings.Replacer{
	"amd64": strings.NewReplacer("RESULT", "rax", "SIZE", "2"),
	"arm64": strings.NewReplacer("RESULT", "x0", "SIZE", "4"),
}[runtime.GOARCH]

// registersOfGDB has gdb's names and types of registers.
var registersOfGDB = map[string]gdbTest{
	"amd64": {"registers", []string{"call fib 3"},
		[]string{"info registers rip", "p $eflags", "p/x $ymm1.v2_int128", "set $xmm1.v4_int32[1] = 77", "p $xmm1.v4_int32", "p $ymm1.v8_int32[1]", "p $st0", "p $mxcsr", "p $fs_base", "p $orig_rax", "info all-registers", "continue"},
		[]string{"rip .*<fib", "= .* IF .*", "= {0x0, 0x0}", "= {0, 77, 0, 0}", "= 77", "= 0", "IM DM", `= 1\d+`, "= -1", "fctrl .*0x37f", "exited normally"},
		[]string{"fib returned 2"}},
	"arm64": {"registers", []string{"call fib 3"},
		[]string{"info registers pc", "p $cpsr", "p/x $v1.q.u", "set $v1.s.u[1] = 77", "p $v1.s.u", "p $q1.u", "p $d1.u", "p $w0", "p $sp", "p $fpsr", "p $fpcr", "p $tpidr", "info all-registers", "continue"},
		[]string{"pc .*<fib", "= .*\\[.*EL=0", "= {0x0}", "= {0, 77, 0, 0}", "= 330712481792", "= 330712481792", "= 3", `= .*0x[0-9a-f]+`, "= 0", "= 0", `= .void [*]. 0x[0-9a-f]{6}`, "x30 .*0x", "v31 .*", "exited normally"},
		[]string{"fib returned 2"}},
}

// gdbTests are scripts of gdb for programs.
var gdbTests = []gdbTest{
	{"steps", []string{"call loop 3"},
		[]string{"break target.c:31", "continue", "next", "next", "next", "step", "bt 1", "finish", "stepi", "x/i $pc", "nexti", "delete", "until", "advance 34", "p total", "p counter", "next", "next", "next"},
		[]string{"Breakpoint 1, loop .n=3. at .*:31", `^32\s`, `^30\s`, "Breakpoint 1, loop", "^add .a=0, b=1. at .*:2[23]", "^#0  add", "Value returned is .* = 1", "=> 0x", "loop .n=3. at .*:34", "= 3", "= 3", `^35\s`, end, "exited normally"},
		[]string{"loop returned 3"}},
	{"conditions at the server", []string{"call fib 12"},
		[]string{"set breakpoint condition-evaluation target", "break fib if n == 1", "info breakpoints", "ignore 1 30", "continue", "info breakpoints", "p n", "condition 1 n == 12345", "continue"},
		[]string{"Breakpoint 1, fib .n=1.", "already hit 31 times", "= 1", "exited normally"},
		[]string{"fib returned 144"}},
	{"conditions at the host", []string{"call fib 8"},
		[]string{"set breakpoint condition-evaluation host", "break fib if n == 1", "ignore 1 10", "continue", "info breakpoints", "delete", "continue"},
		[]string{"Breakpoint 1, fib .n=1.", "already hit 11 times", "exited normally"},
		[]string{"fib returned 21"}},
	{"temporary", []string{"call fib 4"},
		[]string{"tbreak fib", "continue", "info breakpoints", "continue"},
		[]string{"Temporary breakpoint 1, fib .n=4.", "No breakpoints", "exited normally"},
		[]string{"fib returned 3"}},
	{"hardware", []string{"call fib 4"},
		[]string{"hbreak fib", "continue", "bt 1", "continue", "p n", "delete", "continue"},
		[]string{"Hardware assisted breakpoint 1 at", "Breakpoint 1, fib .n=4.", "Breakpoint 1, fib .n=3.", "= 3", "exited normally"},
		[]string{"fib returned 3"}},
	{"watchpoints", []string{"call loop 3"},
		[]string{"watch counter", "continue", "continue", "delete", "rwatch total", "break loop", "delete", "watch where", "info watchpoints", "awatch counter", "continue", "delete", "continue"},
		[]string{"Hardware watchpoint 1: counter", "Old value = 0", "New value = 1", "Old value = 1", "New value = 3", "Hardware watchpoint 4: where", "hw watchpoint .*where", "exited normally"},
		[]string{"loop returned 3"}},
	{"reads", []string{"call fault 1"},
		[]string{"rwatch nowhere", "continue", "continue"},
		[]string{"Hardware read watchpoint 1: nowhere", "Hardware read watchpoint 1: nowhere\n\nValue = .* 0x0", "SIGSEGV"},
		[]string{"fault ended"}},
	{"call from a breakpoint", []string{"call loop 3"},
		[]string{"break loop", "continue", "print add(40, 2)", "print fib(10)", "print half(5)", "break add", "print add(1, 2)", "bt", "finish", "delete", "print add(3, 4)", "continue"},
		[]string{"Breakpoint 1, loop", "= 42", "= 55", "= 2.5", "Breakpoint 2, add .a=1, b=2.", "being debugged stopped while in a function called from GDB",
			"^#0  add .a=1, b=2.", "^#1  <function called from gdb>", "^#2 .*loop", "^#3 .*" + end, "= 3", "= 7", "exited normally"},
		[]string{"loop returned 3"}},
	{"faults in calls from a breakpoint", []string{"call loop 3"},
		[]string{"break loop", "continue", "set unwindonsignal on", "print fault(2)", "bt 1", "print add(1, fib(10))", "info registers pc", "delete", "continue"},
		[]string{"Breakpoint 1, loop", "SIGSEGV", "restored the context", "^#0 .*loop", "= 56", "<loop", "exited normally"},
		[]string{"loop returned 3"}},
	{"return from a call", []string{"call loop 3"},
		[]string{"break loop", "continue", "print fault(1)", "bt", "print add(20, 3)", "return", "bt", "info registers pc", "delete", "continue"},
		[]string{"Breakpoint 1, loop", "SIGSEGV", "signaled while in a function called from GDB", "^#0 .* fault .n=1.", "^#1  <function called from gdb>", "^#2 .*loop", "= 23",
			"^#0 .*loop", "<loop", "exited normally"},
		[]string{"loop returned 3"}},
	{"writes", []string{"call loop 3"},
		[]string{"break add", "continue", "set var where.y = 9", "p where", "set var text = \"other!!!!\"", "x/s text", "p text", "delete", "finish", "set $RESULT = 1000", "continue"},
		[]string{"Breakpoint 1, add", "= {x = 3, y = 9}", `"other!!!!"`, "other!!!!", "Value returned", "exited normally"},
		[]string{"loop returned 1003"}},
	registersOfGDB[runtime.GOARCH],
	{"fault, repaired by a variable", []string{"call fault 4"},
		[]string{"continue", "p $_siginfo._sifields._sigfault.si_addr", "set $RESULT = &somewhere", "continue"},
		[]string{"received signal SIGSEGV, Segmentation fault", "= .*0x0", "exited normally"},
		[]string{"fault returned 81"}},
	{"fault, skipped", []string{"call fault 4"},
		[]string{"continue", "set $pc = $pc + SIZE", "set $RESULT = 5", "continue"},
		[]string{"received signal SIGSEGV, Segmentation fault", "exited normally"},
		[]string{"fault returned 9"}},
	{"fault, again", []string{"call fault 4", "call fib 3"},
		[]string{"continue", "continue", "kill"},
		[]string{"received signal SIGSEGV", "received signal SIGSEGV", "killed"},
		[]string{"fault ended: aborted", "fib returned 2"}},
	{"exit", []string{"call leave 7", "call fib 3"},
		[]string{"continue"},
		[]string{"exited with code 07"},
		[]string{"leave ended: exited with code 7", "fib returned 2"}},
	{"terminated", []string{"call fib 3", "call fib 4"},
		[]string{"signal SIGTERM"},
		[]string{"terminated with signal SIGTERM"},
		[]string{"fib ended: aborted", "fib returned 3"}},
	{"finish out of the call", []string{"call fib 3", "call add 3 4"},
		[]string{"finish", "bt", "p $RESULT", "print add(3, 5)", "set $RESULT = 22", "stepi", "bt 1", "stepi", "continue"},
		[]string{end, "Value returned is .* = 2", "^#0 .*" + end, "= 2", "= 8", "add .a=", "^#0  add", "exited normally"},
		[]string{"fib returned 22", "add returned 7"}},
	{"detach", []string{"call loop 4", "call fib 3"},
		[]string{"break add", "watch counter", "continue", "detach"},
		[]string{"Breakpoint 1, add", "detached"},
		[]string{"loop returned 6", "fib returned 2"}},
	{"left", []string{"call loop 4"}, // as gdb does at the end of a script
		[]string{"break add", "continue"},
		[]string{"Breakpoint 1, add"},
		[]string{"loop returned 6"}},
	{"monitor", []string{"call fib 3"},
		[]string{"monitor help", "monitor session", "info threads", "info inferiors", "info proc", "continue"},
		[]string{"monitor session  what", `worker \d+, stopped: entry`, "image .*target.o: 0x", "image .*: 0x.* functions", `\* 1 .*worker`, `process \d+`, "exe = '.*static.*'", "exited normally"},
		[]string{"fib returned 2"}},
	{"new symbols", []string{"load " + "LATE", "call late 20"},
		[]string{"break late", "continue", "bt", "p n", "finish", "continue"},
		[]string{"Breakpoint 1 .late. pending", "Breakpoint 1, late .n=20. at .*late.c:5", "^#1 .*" + end, "= 20", "Value returned is .* = 41", "exited normally"},
		[]string{"late returned 41"}},
}

func TestGDB(t *testing.T) {
	for _, test := range gdbTests {
		if test.name == "return from a call" && runtime.GOARCH == "arm64" {
			continue // gdb's return address is the program's entry point, which the session refuses
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			steps := append([]string{"-wait"}, test.steps...)
			for i := range steps {
				steps[i] = strings.ReplaceAll(steps[i], "LATE", object(t, "late"))
			}
			if test.name == "new symbols" {
				// The client attaches before the object is loaded.
				steps = append([]string{"-wait", "call fib 2"}, steps[1:]...)
			}
			var commands []string
			for _, command := range test.commands {
				commands = append(commands, ofMachine.Replace(command))
			}
			p := launch(t, static, ":0", steps...)
			inOrder(t, p.gdb(commands...), test.want...)
			p.ends(test.ends...)
		})
	}
}

// A client that attaches while nothing is called can read memory and call functions. When it
// continues, it stops in the next call, or before at ^C.
func TestGDBIdle(t *testing.T) {
	p := launch(t, static, ":0", "linger", "call loop 3")
	cmd := p.gdbCommand(nil, "bt", "print add(40, 2)", "print fib(5)", "p where", "break add", "shell touch ready", "continue", "bt", "print 1+2", "continue", "bt", "delete", "continue")
	out := interrupt(t, cmd) // while it waits for a call
	p.input.Close()
	cmd.Wait()
	inOrder(t, out.String(), "^#0 .*clew_idle", "= 42", "= 5", "= {x = 3, y = 4}", "received signal SIGINT", "^#0 .*clew_idle", "= 3", "Breakpoint 1, add", "^#0  add", "exited normally")
	p.ends("loop returned 3")
}

// ^C stops an endless loop, which a variable ends.
func TestGDBInterrupt(t *testing.T) {
	p := launch(t, static, ":0", "call spin 1")
	cmd := p.gdbCommand(nil, "bt 1", "shell touch ready", "continue", "bt", "set var go_on = 0", "continue")
	out := interrupt(t, cmd)
	cmd.Wait()
	inOrder(t, out.String(), "^#0 .*spin", "received signal SIGINT", "^#0 .*spin", "^#1 .*"+end, "exited normally")
	p.ends("spin returned 5")
}

// After a debugger is killed, no breakpoint remains, the call continues, and another
// debugger can attach.
func TestGDBKilled(t *testing.T) {
	for _, when := range []string{"stopped", "running"} {
		t.Run(when, func(t *testing.T) {
			p := launch(t, static, ":0", "-wait", "call loop 20", "call spin 1", "linger")
			commands := []string{"break add if a == 55", "continue", "shell touch ready", "shell sleep 60"}
			if when == "running" {
				commands = []string{"break add if a == 10000", "delete", "break spin", "continue", "delete", "shell touch ready", "continue"}
			}
			cmd := p.gdbCommand(nil, commands...)
			cmd.Dir = t.TempDir()
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFile(t, filepath.Join(cmd.Dir, "ready"))
			if when == "running" {
				time.Sleep(100 * time.Millisecond)
			}
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			cmd.Wait()
			p.says("loop returned 190")
			inOrder(t, p.gdbNext("bt", "info breakpoints", "set var go_on = 0", "detach"), "^#0 .*spin", "No breakpoints", "detached")
			p.ends("spin returned 5")
		})
	}
}

// A second debugger receives the reason why it is refused.
func TestGDBSecond(t *testing.T) {
	p := launch(t, static, ":0", "linger")
	first := p.gdbCommand(nil, "shell touch ready", "continue")
	first.Dir = t.TempDir()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFile(t, filepath.Join(first.Dir, "ready"))
	inOrder(t, p.gdb("monitor session"), "being debugged by another client")
	p.input.Close()
	first.Wait()
	p.ends()
}

// waitFile waits for a file that a debugger makes.
func waitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the debugger does not get there")
		}
	}
}

// gdbNext runs gdb after the previous client has detached.
func (p *program) gdbNext(commands ...string) (out string) {
	p.t.Helper()
	for range 20 {
		if out = p.gdb(commands...); !strings.Contains(out, "by another client") {
			break
		}
	}
	return out
}
