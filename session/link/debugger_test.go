// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package link

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// debug runs linked programs in the host under a debugger, and returns the debugger's output.
// PLAN in the commands stands for the host's arguments.
func debug(t *testing.T, debugger string, programs []linked, call uint64, commands ...string) string {
	t.Helper()
	program := host(t, native)
	source, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("PLAN", plan(t, programs, call), "TESTDATA", source).Replace(strings.Join(commands, "\n"))
	file := filepath.Join(t.TempDir(), "commands")
	write(t, file, script+"\n")
	if debugger == "gdb" {
		return run(t, "sh", "-c", `gdb -nx -batch -iex "set auto-load off" -x "$0" "$1" 2>&1; true`, file, program)
	}
	return run(t, "sh", "-c", `"$0" --no-lldbinit -b -s "$1" "$2" 2>&1; true`, debugger, file, program)
}

// expect checks that text has parts, regular expressions, in this order.
func expect(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		at := regexp.MustCompile("(?m)" + p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no %q in its place in\n%s", p, text)
			return
		}
		rest = rest[at[1]:]
	}
}

var gdbStart = []string{"set confirm off", "set width 0", "set height 0", "set breakpoint pending on"}

func debuggable(t *testing.T, compiler, flags string) (programs []linked, entry uint64) {
	t.Helper()
	add := compile(t, compiler, addSource, strings.Fields(flags)...)
	imported, err := at(t, native, farAway+1<<36, nil, add)
	if err != nil {
		t.Fatal(err)
	}
	address := imported.symbol(t, "host_add")
	resolve := func(name string) (uint64, bool) { return address, name == "host_add" }
	a, err := at(t, native, farAway, resolve, compile(t, compiler, "small.c", strings.Fields(flags)...))
	if err != nil {
		t.Fatal(err)
	}
	return []linked{a, imported}, a.symbol(t, "test")
}

// gdbCalls reports whether gdb can call functions: gdb 13 cannot write registers where the
// processor has AMX, because the state is larger than its buffer.
func gdbCalls(t *testing.T) bool {
	t.Helper()
	out, _ := exec.Command("gdb", "-nx", "-batch", "-ex", "starti", "-ex", "p $xmm0.v4_int32[0] = 1", "/bin/true").CombinedOutput()
	if bytes.Contains(out, []byte("Couldn't write extended state")) {
		t.Log("gdb cannot write registers of this processor, so it calls nothing")
		return false
	}
	return true
}

// TestGDB: gdb takes the ELF of the objects as JIT symbol files: it breaks by
// line, prints variables, unwinds through a stub, and finishes.
func TestGDB(t *testing.T) {
	tool(t, "gdb")
	call, returns := "p fib(9)", `= 34$`
	if !gdbCalls(t) {
		call, returns = "p zeroed[7]", `= 7$`
	}
	for _, compiler := range []string{"gcc", "clang"} {
		for _, flags := range few(t, []string{"-O0 -g", "-O0 -gdwarf-4 -gz -fPIC", "-O0 -g3 -ffunction-sections"}, 1) {
			t.Run(compiler+" "+flags, func(t *testing.T) {
				tool(t, compiler)
				programs, entry := debuggable(t, compiler, flags)
				got := debug(t, "gdb", programs, entry, append(gdbStart,
					"break small.c:22", "run PLAN", "info args", "bt 3", "delete", "p counter", "p words[2]", "p message", "p zeroed[7]",
					call, "break choose if n == 5", "continue", "tbreak *'host_add@plt'", "continue", "bt 3",
					"break host_add", "continue", "bt", "finish", "p *functions@2", "info symbol fib", "delete", "continue")...)
				expect(t, got, `^Breakpoint 1, fib \(n=10\) at .*small\.c:22`, `^n = 10`, `^#0  fib \(n=10\) at .*small\.c:22`, `^#1  0x\w+ in choose \(n=1\) at .*small\.c:27`, `^#2  0x\w+ in test \(\) at .*small\.c:63`,
					`= 5$`, `"two"`, `"hello"`, `= 7$`, returns,
					`^Breakpoint \d+, choose \(n=5\)`,
					`^Temporary breakpoint \d+, 0x\w+ in host_add@plt`, `^#1  0x\w+ in choose \(n=5\)`, `^#2  0x\w+ in test`,
					`^Breakpoint \d+, host_add \(a=40, b=2\)`, `^#1  0x\w+ in choose \(n=5\)`, `^#2  0x\w+ in test`, `^#3 .* in call `, `^#4  .*main \(`,
					`Value returned is .* 42`, `\{0x\w+ <twice>, 0x\w+ <thrice>\}`, `^fib in section \.text`,
					`exited normally`)
				for _, bad := range []string{"warning", "overlap", "Error", "corrupt"} {
					if strings.Contains(got, bad) {
						t.Errorf("gdb complains:\n%s", got)
					}
				}
			})
		}
	}
}

// TestLLDB does the same with lldb.
func TestLLDB(t *testing.T) {
	tool(t, "lldb-14")
	programs, entry := debuggable(t, "clang", "-O0 -gdwarf-4")
	got := debug(t, "lldb-14", programs, entry,
		"settings set plugin.jit-loader.gdb.enable on", "breakpoint set -n registered", "run PLAN", "breakpoint set -f small.c -l 22", "continue", "continue",
		"bt 3", "frame variable", "p counter", "p message", "breakpoint delete -f", "breakpoint set -f add.c -l 1", "continue", "bt 3", "finish", "disassemble -n fib -c 2", "breakpoint delete -f", "continue")
	expect(t, got, `stop reason = breakpoint`, `frame #0: .*\bfib\(n=10\) at small\.c:22`, `frame #1: .*\bchoose\(n=1\) at small\.c:27`, `frame #2: .*\btest at small\.c:63`,
		`\(int\) n = 10`, `= 5$`, `"hello"`, `frame #0: .*host_add\(a=40, b=2\)`, `frame #1: .*choose\(n=5\)`, `frame #2: .*test`, `Return value: .* 42`, `fib`, `exited with status = 0`)
}
