// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build compiles testdata/NAME.c, or NAME where that is a .S file, and returns
// the program's path.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	source := name
	if filepath.Ext(name) == "" {
		source += ".c"
	}
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(name, ".S"))
	args := append([]string{"-O1", "-g", "-pthread", "-o", program, "testdata/" + source}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// child is a program under test that reads commands and prints lines.
type child struct {
	t      testing.TB
	cmd    *exec.Cmd
	pid    int
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// start starts a program and, unless it says "ready", fails the test. The
// program is killed when the test ends.
func start(t testing.TB, name string, args ...string) *child {
	t.Helper()
	return startCommand(t, exec.Command(name, args...))
}

func startCommand(t testing.TB, cmd *exec.Cmd) *child {
	t.Helper()
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: cmd, pid: cmd.Process.Pid, stdin: stdin, stdout: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Wait()
	})
	if line := c.line(); line != "ready" {
		t.Fatalf("%s said %q, expected ready", cmd.Path, line)
	}
	return c
}

func (c *child) line() string {
	c.t.Helper()
	line, err := c.stdout.ReadString('\n')
	if err != nil {
		c.t.Fatalf("%s: %q, %v", c.cmd.Path, line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask writes a line and returns the answer.
func (c *child) ask(line string) string {
	c.t.Helper()
	if _, err := io.WriteString(c.stdin, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
	return c.line()
}

// blocked waits until the first thread is in a system call.
func (c *child) blocked(call int) {
	c.t.Helper()
	prefix := strconv.Itoa(call) + " "
	eventually(c.t, "system call "+prefix, func() bool {
		return strings.HasPrefix(readLine(taskFile(c.pid, c.pid, "syscall")), prefix)
	})
}

// rounds is the number of repetitions in a test for a race. It is smaller with -short and on
// an emulated machine.
func rounds(n int) int {
	if testing.Short() {
		return n / 6
	}
	return n
}

// eventually waits until f returns true. It fails the test after a time that no working
// program needs.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("did not happen: %s", what)
}
