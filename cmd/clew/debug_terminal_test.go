// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
)

// terminal is a pseudo-terminal with clew at the other end.
type terminal struct {
	*testprogram.Terminal
	t      *testing.T
	cmd    *exec.Cmd
	before unix.Termios
}

// startTerminal runs clew at a terminal.
func startTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	cmd := clew(t, args...)
	cmd.Env = append(os.Environ(), env...)
	term, before := testprogram.StartTerminal(t, cmd, 40, 100)
	return &terminal{term, t, cmd, before}
}

// expect waits for a text after the previously expected one.
func (term *terminal) expect(text string) {
	term.t.Helper()
	term.Expect(regexp.QuoteMeta(text))
}

// ends waits for the end of the command, and checks that the modes of the terminal are restored.
func (term *terminal) ends(code int) {
	term.t.Helper()
	term.Ended()
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("exit code %d, want %d", got, code)
	}
	if m := term.Modes(); m != term.before {
		term.t.Errorf("the terminal's modes were %+v and are %+v", term.before, m)
	}
}

const (
	keyUp   = "\x1b[A"
	keyLeft = "\x1b[D"
)

// debuggedObject compiles a source file of package console's tests.
func debuggedObject(t *testing.T, source string) string {
	t.Helper()
	cc := testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".c")+".o")
	folder := filepath.Join("..", "..", "session", "console", "testdata")
	cmd := exec.Command(cc, "-g", "-c", "-o", path, source)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// Lines can be edited and completed, and are kept in the history. Ctrl-C clears the line at the
// prompt and stops running code. Ctrl-D quits.
func TestDebugAtATerminal(t *testing.T) {
	object := debuggedObject(t, "faults.c")
	history := filepath.Join(t.TempDir(), "state", "history")
	env := []string{"TERM=xterm", "NO_COLOR=1", "CLEW_HISTORY=" + history}
	term := startTerminal(t, env, "debug", object)
	const prompt = "(clew) "
	term.expect(prompt)

	term.Send("bre\tfore\t\r")
	term.expect("break forever")
	term.expect("Breakpoint 1 at ")
	term.expect(prompt)
	term.Send("delete\r")
	term.expect(prompt)

	// An edit in the middle of the line.
	term.Send("p 1+4" + keyLeft + keyLeft + keyLeft + "1\r")
	term.expect("$1 = 15")
	term.expect(prompt)

	// Ctrl-C clears the line.
	term.Send("nonsense\x03p 2\r")
	term.expect("$2 = 2")
	term.expect(prompt)

	// The second Tab lists.
	term.Send("info s\t\t")
	term.expect("sharedlibrary")
	term.Send("\x03")

	term.Send("call forever()\r")
	testprogram.AwaitWork(t, term.cmd.Process.Pid)
	term.Send("\x03")
	term.expect("Program received signal SIGINT, Interrupt.")
	term.expect(prompt)
	term.Send("bt 1\r")
	term.expect("#0  ")
	term.expect("forever () at ")
	term.expect(prompt)

	// Ctrl-C stops it a second time.
	term.Send("c\r")
	term.expect("Continuing.")
	testprogram.AwaitWork(t, term.cmd.Process.Pid)
	term.Send("\x03")
	term.expect("SIGINT")
	term.expect(prompt)
	term.Send("kill\r")
	term.expect("[forever() was aborted]")
	term.expect(prompt)

	// The history, latest first, is kill, c, bt 1, call.
	term.Send(keyUp + keyUp + keyUp + "\r")
	term.expect("no call is stopped")
	term.expect(prompt)

	term.Send("\x04")
	term.expect("quit")
	term.ends(0)
	data, err := os.ReadFile(history)
	if err != nil || !strings.HasPrefix(string(data), "break forever \ndelete\np 11+4\np 2\n") && !strings.HasPrefix(string(data), "break forever\ndelete\np 11+4\np 2\n") {
		t.Errorf("the history is %q: %v", data, err)
	}

	// The exit code depends on the last call.
	term = startTerminal(t, env, "debug", object)
	term.expect(prompt)
	term.Send("call divide(1, 0)\r")
	term.expect("SIGFPE")
	term.expect(prompt)
	term.Send("\x04")
	term.expect("quit")
	term.ends(1)

	// The next session has the history.
	term = startTerminal(t, env, "debug", object, "--call", "divide(1, 0)")
	term.expect(prompt)
	term.Send(keyUp + keyUp + keyUp + keyUp)
	term.expect("c")
	term.Send("\x03run\r")
	term.expect("SIGFPE")
	term.expect(prompt)
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.ends(128 + int(syscall.SIGTERM))
}

// Ctrl-C ends a script with code that does not end.
func TestDebugScriptIsInterrupted(t *testing.T) {
	object := debuggedObject(t, "faults.c")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo ready\\n\ncall forever()\necho more\\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--batch", script}, {}} {
		cmd := clew(t, append([]string{"debug", object}, args...)...)
		in, err := os.Open(script)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); line != "ready\n" {
			t.Fatalf("clew prints %q: %v", line, err)
		}
		// One Ctrl-C only: a second one may come when clew no longer handles it.
		testprogram.AwaitWork(t, cmd.Process.Pid)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(lines)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) || !strings.Contains(string(text), "received signal SIGINT") || strings.Contains(string(text), "more") {
			t.Errorf("%q ends with %d and prints %q", args, code, text)
		}
	}
}
