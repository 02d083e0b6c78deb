// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clewdev/clew/internal/testprogram"
)

// scriptStart is the scripts' command
//
//	start VAR PROGRAM [ARG]...
//
// which starts a program in the script's directory, waits until it has written something and its
// first thread sleeps, and sets VAR to its process ID. The program is killed at the end of the script.
func scriptStart(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start VAR PROGRAM [ARG]...")
	}
	cmd := exec.Command(ts.MkAbs(args[1]), args[2:]...)
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill()
		stdin.Close()
		cmd.Wait()
	})
	pid := strconv.Itoa(cmd.Process.Pid)
	ts.Setenv(args[0], pid)
	if n, err := stdout.Read(make([]byte, 64)); n == 0 {
		ts.Fatalf("%s printed nothing: %v", args[1], err)
	}
	go io.Copy(io.Discard, stdout)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if b, _ := os.ReadFile("/proc/" + pid + "/stat"); bytes.Contains(b, []byte(") S ")) {
			return
		}
	}
	ts.Fatalf("%s does not sleep", args[1])
}

// clew returns a command that runs clew in its own process group, as a shell does, so that it can
// get the signals of a terminal.
func clew(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "clew" // what testscript.Main goes by
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Each Ctrl-\ prints the stacks of a command, which runs on. Clew ends with the command, with the
// same exit code.
func TestStackOnQuit(t *testing.T) {
	program := testprogram.Build(t, "crash.c", "-O2", "-g")
	cmd := clew(t, "stack", "--no-lines", "--", program)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	defer syscall.Kill(group, syscall.SIGKILL)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program printed %q: %v", line, err)
	}
	lines := bufio.NewScanner(stderr)
	for n := range 2 {
		if err := syscall.Kill(group, syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		// The key does nothing while stacks are still written, which may be so after the test
		// has read their last line.
		timer := time.AfterFunc(20*time.Second, func() { syscall.Kill(group, syscall.SIGQUIT) })
		var got []string
		for lines.Scan() {
			timer.Stop()
			got = append(got, lines.Text())
			if strings.Contains(lines.Text(), "_start+") {
				break
			}
		}
		text := strings.Join(got, "\n")
		if !strings.Contains(text, "asked by SIGQUIT") || !strings.Contains(text, "  main+0x") {
			t.Fatalf("Ctrl-\\ for the %d. time printed %q", n+1, text)
		}
	}
	if err := syscall.Kill(group, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("after SIGTERM: %q", lines.Text())
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d, expected %d", code, 128+int(syscall.SIGTERM))
	}
}
