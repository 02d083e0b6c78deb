// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
)

// terminal is a pseudo-terminal with clew at its other end.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	before unix.Termios
	exited chan struct{}

	mu     sync.Mutex
	output []byte
	read   int // of output, by expect
}

// startTerminal runs clew at a terminal.
func startTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("skipped: no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master, exited: make(chan struct{})}
	term.before = term.modes()
	term.cmd = clew(t, args...)
	term.cmd.Env = append(os.Environ(), env...)
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.cmd.Process.Kill() })
	go func() {
		term.cmd.Wait()
		close(term.exited)
	}()
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			term.output = append(term.output, buffer[:n]...)
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return term
}

// modes are those of the terminal: whether it echoes, and so on.
func (term *terminal) modes() unix.Termios {
	term.t.Helper()
	m, err := unix.IoctlGetTermios(int(term.master.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	return *m
}

func (term *terminal) send(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// expect waits for a text behind what was expected before.
func (term *terminal) expect(text string) {
	term.t.Helper()
	for end := time.Now().Add(maxWait); ; time.Sleep(2 * time.Millisecond) {
		term.mu.Lock()
		at := bytes.Index(term.output[term.read:], []byte(text))
		if at >= 0 {
			term.read += at + len(text)
		}
		output := string(term.output)
		term.mu.Unlock()
		if at >= 0 {
			return
		}
		if time.Now().After(end) {
			term.t.Fatalf("no %q in\n%s", text, output)
		}
	}
}

// ends waits for the command's end, and checks that it left the terminal as it was.
func (term *terminal) ends(code int) {
	term.t.Helper()
	select {
	case <-term.exited:
	case <-time.After(maxWait):
		term.t.Fatal("clew does not end")
	}
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("exit code %d, want %d", got, code)
	}
	if m := term.modes(); m != term.before {
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

// Lines are edited, completed and remembered; Ctrl-C clears the line at the prompt
// and stops code that runs; Ctrl-D quits.
func TestDebugAtATerminal(t *testing.T) {
	object := debuggedObject(t, "faults.c")
	history := filepath.Join(t.TempDir(), "state", "history")
	env := []string{"TERM=xterm", "NO_COLOR=1", "CLEW_HISTORY=" + history}
	term := startTerminal(t, env, "debug", object)
	const prompt = "(clew) "
	term.expect(prompt)

	term.send("bre\tfore\t\r")
	term.expect("break forever")
	term.expect("Breakpoint 1 at ")
	term.expect(prompt)
	term.send("delete\r")
	term.expect(prompt)

	// An edit in the middle of the line.
	term.send("p 1+4" + keyLeft + keyLeft + keyLeft + "1\r")
	term.expect("$1 = 15")
	term.expect(prompt)

	// Ctrl-C clears the line.
	term.send("nonsense\x03p 2\r")
	term.expect("$2 = 2")
	term.expect(prompt)

	// The second Tab lists.
	term.send("info s\t\t")
	term.expect("sharedlibrary")
	term.send("\x03")

	term.send("call forever()\r")
	time.Sleep(200 * time.Millisecond) // for it to run; it would stop all the same
	term.send("\x03")
	term.expect("Program received signal SIGINT, Interrupt.")
	term.expect(prompt)
	term.send("bt 1\r")
	term.expect("#0  ")
	term.expect("forever () at ")
	term.expect(prompt)

	// And again.
	term.send("c\r")
	term.expect("Continuing.")
	time.Sleep(50 * time.Millisecond)
	term.send("\x03")
	term.expect("SIGINT")
	term.expect(prompt)
	term.send("kill\r")
	term.expect("[forever() was aborted]")
	term.expect(prompt)

	// Back in the history: kill, c, bt 1, call.
	term.send(keyUp + keyUp + keyUp + "\r")
	term.expect("nothing is being run")
	term.expect(prompt)

	term.send("\x04")
	term.expect("quit")
	term.ends(0)
	data, err := os.ReadFile(history)
	if err != nil || !strings.HasPrefix(string(data), "break forever \ndelete\np 11+4\np 2\n") && !strings.HasPrefix(string(data), "break forever\ndelete\np 11+4\np 2\n") {
		t.Errorf("the history is %q: %v", data, err)
	}

	// The outcome is that of the last call.
	term = startTerminal(t, env, "debug", object)
	term.expect(prompt)
	term.send("call divide(1, 0)\r")
	term.expect("SIGFPE")
	term.expect(prompt)
	term.send("\x04")
	term.expect("quit")
	term.ends(1)

	// The next session has the history.
	term = startTerminal(t, env, "debug", object, "--call", "divide(1, 0)")
	term.expect(prompt)
	term.send(keyUp + keyUp + keyUp + keyUp)
	term.expect("c")
	term.send("\x03run\r")
	term.expect("SIGFPE")
	term.expect(prompt)
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.ends(128 + int(syscall.SIGTERM))
}

// Ctrl-C ends a script whose code does not end.
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
			t.Fatalf("it says %q: %v", line, err)
		}
		timer := time.NewTicker(50 * time.Millisecond)
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-timer.C:
					cmd.Process.Signal(syscall.SIGINT)
				case <-done:
					return
				}
			}
		}()
		rest, _ := io.ReadAll(lines)
		cmd.Wait()
		timer.Stop()
		close(done)
		if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) || !strings.Contains(string(rest), "received signal SIGINT") || strings.Contains(string(rest), "more") {
			t.Errorf("%q ends with %d and says %q", args, code, rest)
		}
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "history")
	t.Setenv("CLEW_HISTORY", path)
	h := openHistory()
	for _, line := range []string{"one", "two", "two", " ", "", "three"} {
		h.Add(line)
	}
	again := openHistory()
	if again.Len() != 3 || again.At(0) != "three" || again.At(2) != "one" {
		t.Errorf("the history is %q", again.lines)
	}
	var many strings.Builder
	for i := range 3 * maxHistory {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h = openHistory()
	if h.Len() != maxHistory || h.At(0) != fmt.Sprintf("line %d", 3*maxHistory-1) {
		t.Errorf("%d lines, the last is %q", h.Len(), h.At(0))
	}
	if openHistory().Len() != maxHistory {
		t.Error("the file was not shortened")
	}

	t.Setenv("CLEW_HISTORY", "")
	h = openHistory()
	h.Add("secret")
	if h.Len() != 1 || openHistory().Len() != 0 {
		t.Error("a history without a file is kept")
	}
	t.Setenv("XDG_STATE_HOME", "/somewhere")
	if os.Unsetenv("CLEW_HISTORY"); historyPath() != "/somewhere/clew/history" {
		t.Errorf("the history is in %s", historyPath())
	}
}
