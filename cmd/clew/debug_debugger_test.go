// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
)

// underDebugger is clew with a debugger at a terminal.
type underDebugger struct {
	*terminal
	temporary string // for the socket's directory
}

// startDebugger runs clew debug with a debugger at a terminal. The user's .gdbinit is home.
func startDebugger(t *testing.T, home string, args ...string) *underDebugger {
	t.Helper()
	temporary := t.TempDir()
	cmd := exec.Command(buildClew(t), append([]string{"debug"}, args...)...) // debuggers need symbols
	cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "HOME="+home, "XDG_CONFIG_HOME="+home, "TMPDIR="+temporary, "XDG_RUNTIME_DIR=", "DEBUGINFOD_URLS=")
	term, before := testprogram.StartTerminal(t, cmd, 40, 100)
	return &underDebugger{&terminal{term, t, cmd, before}, temporary}
}

// clean checks that the socket is gone.
func (d *underDebugger) clean() {
	d.t.Helper()
	if left, _ := os.ReadDir(d.temporary); len(left) > 0 {
		d.t.Errorf("%s is left", left[0].Name())
	}
}

// debugger returns the process ID of the debugger: clew's child that is not the worker.
func (d *underDebugger) debugger(name string) int {
	d.t.Helper()
	for end := time.Now().Add(maxWait); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, pid := range childrenOf(d.cmd.Process.Pid) {
			if comm, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(comm)) == name {
				n, _ := strconv.Atoi(pid)
				return n
			}
		}
	}
	d.t.Fatalf("no child %s", name)
	return 0
}

// gone waits for the end of a process.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(maxWait); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d does not end", pid)
		}
	}
}

const gdbPrompt = "(gdb) "

// gdb starts at the entry of the call, with the symbols, the sources and the breakpoints of the
// command line, and the user's .gdbinit. Ctrl-C stops the code, and the window's size is gdb's. The
// exit code is gdb's. A script in a section of the object file is not executed.
func TestDebugUnderGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	object := debuggedObject(t, "faults.c")
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gdbinit"), []byte("echo hello from the init file\\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// An inlined script (GDB manual, "The .debug_gdb_scripts section").
	executed := filepath.Join(t.TempDir(), "executed")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("\x04hostile\nopen("+strconv.Quote(executed)+", 'w')\n\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testprogram.RequireTool(t, "objcopy"), "--add-section", ".debug_gdb_scripts="+script, object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := startDebugger(t, home, object, "--gdb", "--call", "forever()", "--break", "divide if b == 0", "--break", "faults.c:7")
	d.expect("hello from the init file")
	d.expect("forever () at ")
	d.expect("Breakpoint 1 at ")
	d.expect("Breakpoint 2 at ")
	d.expect(gdbPrompt)
	d.clean() // it has connected
	d.Send("info breakpoints\r")
	d.expect("in divide at ")
	d.expect("stop only if b == 0")
	d.expect("in load at ")
	d.expect(gdbPrompt)
	d.Send("list\r")
	d.expect("volatile int n = 0;")
	d.expect(gdbPrompt)
	d.Send("show height\r")
	d.expect("page is 40.")
	d.expect(gdbPrompt)
	d.Resize(33, 80)
	d.expect(gdbPrompt) // drawn again
	d.Send("show height\r")
	d.expect("page is 33.")
	d.expect(gdbPrompt)

	d.Send("continue\r")
	testprogram.AwaitWork(t, d.cmd.Process.Pid)
	d.Send("\x03")
	d.expect("SIGINT")
	d.expect(gdbPrompt)
	d.Send("\x03") // at the prompt
	d.expect("Quit")
	d.expect(gdbPrompt)
	d.Send("print divide(7, 2)\r")
	d.expect("= 3")
	d.expect(gdbPrompt)
	d.Send("print divide(7, 0)\r")
	d.expect("Breakpoint 1, divide (a=7, b=0)")
	d.expect(gdbPrompt)
	d.Send("set confirm off\r")
	d.expect(gdbPrompt)
	d.Send("quit 3\r")
	d.expect("[forever() was aborted]")
	d.ends(3)
	if _, err := os.Stat(executed); err == nil {
		t.Error("gdb has executed the script in the object file")
	}
}

// The process group of gdb is the foreground group of the terminal. Ctrl-Z stops gdb and clew, and
// they continue together. A call that returns is printed, and its process exits for gdb.
func TestDebugUnderGDBIsAJob(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	d := startDebugger(t, t.TempDir(), debuggedObject(t, "fib.c"), "--gdb", "--call", "fib(5)")
	d.expect("fib (n=0) at ")
	d.expect(gdbPrompt)
	pid := d.debugger("gdb")
	if group, err := unix.Getpgid(pid); err != nil || group != d.cmd.Process.Pid {
		t.Errorf("the process group of gdb is %d, and clew is %d: %v", group, d.cmd.Process.Pid, err)
	}
	// The kernel discards SIGTSTP for the orphaned group of this terminal, so the test stops it.
	syscall.Kill(-d.cmd.Process.Pid, syscall.SIGSTOP)
	for end := time.Now().Add(maxWait); !stopped(pid) || !stopped(d.cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("gdb and clew are not stopped")
		}
	}
	syscall.Kill(-d.cmd.Process.Pid, syscall.SIGCONT)
	d.Send("finish\r")
	d.expect("Run till exit")
	d.expect(gdbPrompt)
	d.Send("continue\r")
	d.expect("exited normally")
	d.expect("fib(5) = 5")
	d.Send("quit\r")
	d.ends(0)
	d.clean()
}

// After the end of gdb or of clew nothing is left, however they end, and the terminal has its modes
// unless clew was killed.
func TestDebugUnderGDBIsKilled(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	object := debuggedObject(t, "faults.c")
	for _, test := range []struct {
		name    string
		process string // that gets the signal
		signal  syscall.Signal
		running bool
		code    int
		message string
	}{
		{"gdb is killed", "gdb", syscall.SIGKILL, false, 128 + 9, "gdb was killed by SIGKILL"},
		{"gdb is killed while the code runs", "gdb", syscall.SIGKILL, true, 128 + 9, "gdb was killed by SIGKILL"},
		{"clew is terminated", "clew", syscall.SIGTERM, false, 128 + 15, ""},
		{"clew is terminated while the code runs", "clew", syscall.SIGTERM, true, 128 + 15, ""},
		{"the terminal hangs up", "clew", syscall.SIGHUP, false, 128 + 1, ""},
		{"clew is killed", "clew", syscall.SIGKILL, false, -1, ""},
		{"clew is killed while the code runs", "clew", syscall.SIGKILL, true, -1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := startDebugger(t, t.TempDir(), object, "--gdb", "--call", "forever()")
			d.expect("forever () at ")
			d.expect(gdbPrompt)
			pid := d.debugger("gdb")
			if test.running {
				d.Send("continue\r")
				testprogram.AwaitWork(t, d.cmd.Process.Pid)
			}
			target := d.cmd.Process.Pid
			if test.process == "gdb" {
				target = pid
			}
			syscall.Kill(target, test.signal)
			if test.message != "" {
				d.expect(test.message)
			}
			if test.signal == syscall.SIGKILL && test.process == "clew" {
				d.Ended()
			} else {
				d.ends(test.code)
			}
			gone(t, pid)
			d.clean()
		})
	}
}

// lldb starts in the same way.
func TestDebugUnderLLDB(t *testing.T) {
	testprogram.RequireTool(t, "lldb-14")
	d := startDebugger(t, t.TempDir(), debuggedObject(t, "fib.c"), "--lldb", "--call", "fib(5)", "--break", "fib if n == 3", "--break", "fib.c:10")
	d.expect("fib.c:4")
	d.expect("Breakpoint 1: where = ")
	d.expect("Breakpoint 2: where = ")
	d.clean()
	d.Send("continue\r")
	d.expect("stop reason = breakpoint 1.1")
	d.expect("(n=3)")
	d.Send("breakpoint delete -f\r")
	d.expect("All breakpoints removed")
	d.Send("continue\r")
	d.expect("exited with status = 0")
	d.Send("quit 4\r")
	d.ends(4)
}

// A debugger that is not installed is an error that names the package.
func TestDebugWithoutADebugger(t *testing.T) {
	object := debuggedObject(t, "fib.c")
	for _, name := range []string{"gdb", "lldb"} {
		cmd := clew(t, "debug", object, "--"+name, "--call", "fib(5)")
		cmd.Env = append(os.Environ(), "PATH="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if want := "clew debug: " + name + " is not installed: install the package " + name; err == nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s, %v; want %s", out, err, want)
		}
	}
}
