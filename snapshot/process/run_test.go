// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

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

	"golang.org/x/sys/unix"
)

// underRun is a command under Run, in a separate process and, as in a terminal, in a process
// group of its own.
type underRun struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func startRun(t *testing.T, args ...string) *underRun {
	t.Helper()
	r := &underRun{t: t, cmd: asRole(self(t), "run", args...)}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stderr = &r.stderr
	r.cmd.WaitDelay = time.Minute
	var err error
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdout = bufio.NewReader(stdout)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL)
		r.cmd.Wait()
	})
	return r
}

func (r *underRun) expect(line string) {
	r.t.Helper()
	if got, err := r.stdout.ReadString('\n'); got != line+"\n" {
		r.t.Fatalf("read %q, %v, expected %q", got, err, line)
	}
}

// end waits for the end and returns the exit status and the standard error.
func (r *underRun) end() (int, string) {
	r.t.Helper()
	r.stdin.Close()
	io.Copy(io.Discard, r.stdout)
	err := r.cmd.Wait()
	if e, ok := err.(*exec.ExitError); err != nil && (!ok || !e.Exited()) {
		r.t.Fatalf("%v\n%s", err, r.stderr.String())
	}
	return r.cmd.ProcessState.ExitCode(), r.stderr.String()
}

func TestRunCrash(t *testing.T) {
	crash := build(t, "crash")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: sh is not installed")
	}
	// Cores are disabled; they are not part of the test.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   []string
		status int
		stderr string
	}{
		{"exit", []string{crash, "exit"}, 7, ""},
		{"fault", []string{crash, "segv"}, 139, "SIGSEGV crash=true address=0x10 threads=1 complete=1 name=crash\n"},
		{"abort", []string{crash, "abort"}, 134, "SIGABRT crash=true address=0x0 threads=1 complete=1 name=crash\n"},
		{"trap", []string{crash, "trap"}, 133, "SIGTRAP crash=true address=0x0 threads=1 complete=1 name=crash\n"},
		{"thread", []string{crash, "thread"}, 139, "SIGSEGV crash=true address=0x10 threads=5 complete=5 name=faulty\n"},
		{"handled", []string{crash, "handled"}, 0, ""},
		{"handled, then not", []string{crash, "redefault"}, 139, "SIGSEGV crash=true address=0x10 threads=1 complete=1 name=crash\n"},
		{"SIGTERM is not a crash", []string{crash, "term"}, 143, ""},
		{"child", []string{crash, "fork"}, 3, ""},
		{"many threads", []string{crash, "churn", strconv.Itoa(rounds(2000))}, 5, ""},
		{"exec in a script", []string{shell, "-c", "exec " + crash + " segv"}, 139, "SIGSEGV crash=true address=0x10 threads=1 complete=1 name=crash\n"},
		{"script's child", []string{shell, "-c", crash + " segv; exit 6"}, 6, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, stderr := startRun(t, test.args...).end()
			// The shell reports its child's end on the same stream.
			stderr = strings.ReplaceAll(stderr, "Segmentation fault\n", "")
			if status != test.status || stderr != test.stderr {
				t.Errorf("status %d, stderr %q, expected %d, %q", status, stderr, test.status, test.stderr)
			}
		})
	}
}

func TestRunNotStarted(t *testing.T) {
	err := Run(exec.Command("/nonexistent/program"), nil)
	if err == nil || !os.IsNotExist(err.(*os.PathError)) {
		t.Errorf("error %v, expected a file that does not exist", err)
	}
}

// SIGQUIT to the process group, as the terminal's Ctrl-\ sends it: a snapshot each time, and
// the command continues.
func TestRunQuit(t *testing.T) {
	crash := build(t, "crash")
	const stderr = "SIGQUIT crash=false address=0x0 threads=1 complete=1 name=crash\n"
	for _, test := range []struct {
		mode    string
		handled bool
	}{{"default", false}, {"handles-quit", true}, {"ignores-quit", false}} {
		t.Run(test.mode, func(t *testing.T) {
			r := startRun(t, crash, test.mode)
			r.expect("ready")
			for range 3 {
				if err := unix.Kill(-r.cmd.Process.Pid, unix.SIGQUIT); err != nil {
					t.Fatal(err)
				}
				if test.handled {
					r.expect("handled")
				}
				time.Sleep(3 * settle) // for a signal that is passed on wrongly
				io.WriteString(r.stdin, "\n")
				r.expect("runs")
			}
			if status, got := r.end(); status != 0 || got != strings.Repeat(stderr, 3) {
				t.Errorf("status %d, stderr %q, expected three times %q", status, got, stderr)
			}
		})
	}
}

// A signal that is sent only to the process that runs the command.
func TestRunForwards(t *testing.T) {
	crash := build(t, "crash")
	for _, test := range []struct {
		name     string
		mode     string
		signal   unix.Signal
		toGroup  bool
		expected string
		status   int
		stderr   string
	}{
		{"SIGTERM", "default", unix.SIGTERM, false, "", 143, ""},
		{"SIGTERM handled", "handles-term", unix.SIGTERM, false, "handled", 0, ""},
		{"SIGTERM to the group", "handles-term", unix.SIGTERM, true, "handled", 0, ""},
		{"SIGINT to the group", "default", unix.SIGINT, true, "", 130, ""},
		{"SIGQUIT", "default", unix.SIGQUIT, false, "", 0, "SIGQUIT crash=false address=0x0 threads=1 complete=1 name=crash\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := startRun(t, crash, test.mode)
			r.expect("ready")
			to := r.cmd.Process.Pid
			if test.toGroup {
				to = -to
			}
			if err := unix.Kill(to, test.signal); err != nil {
				t.Fatal(err)
			}
			if test.expected != "" {
				r.expect(test.expected)
			}
			if test.status == 0 {
				time.Sleep(3 * settle)
				io.WriteString(r.stdin, "\n")
				r.expect("runs") // and not handled twice
				r.stdin.Close()
			}
			io.Copy(io.Discard, r.stdout)
			if status, stderr := r.end(); status != test.status || stderr != test.stderr {
				t.Errorf("status %d, stderr %q, expected %d, %q", status, stderr, test.status, test.stderr)
			}
		})
	}
}

// A second signal right after the first is passed on too.
func TestRunForwardsAgain(t *testing.T) {
	r := startRun(t, build(t, "crash"), "handles-term")
	r.expect("ready")
	for range 3 {
		if err := unix.Kill(r.cmd.Process.Pid, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.expect("handled")
	}
	if status, stderr := r.end(); status != 0 || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

// commandOf returns the process that a running Run started.
func (r *underRun) command() int {
	r.t.Helper()
	var pid int
	eventually(r.t, "the command is started", func() bool {
		tids, _ := listThreads(r.cmd.Process.Pid, nil)
		for _, tid := range tids {
			if f := strings.Fields(readLine(taskFile(r.cmd.Process.Pid, tid, "children"))); len(f) > 0 {
				pid, _ = strconv.Atoi(f[0])
			}
		}
		return pid != 0
	})
	return pid
}

// After SIGTSTP the command stays stopped until SIGCONT.
func TestRunJobControl(t *testing.T) {
	r := startRun(t, build(t, "threads"), "3")
	r.expect("ready")
	pid := r.command()
	state := func() byte {
		s, err := readStatus(pid)
		if err != nil {
			t.Fatal(err)
		}
		return s.State
	}
	ask := func() (n int) {
		io.WriteString(r.stdin, "\n")
		line, _ := r.stdout.ReadString('\n')
		n, _ = strconv.Atoi(strings.TrimSpace(line))
		return n
	}
	for range 3 {
		before := ask()
		if err := unix.Kill(pid, unix.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		// A traced thread shows a group stop as state t.
		eventually(t, "the command stops", func() bool { s := state(); return s == 't' || s == 'T' })
		if err := unix.Kill(pid, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the command continues", func() bool { return ask() > before+5 })
	}
	if status, stderr := r.end(); status != 0 || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
}

// If Run is killed, the command continues, also after a stop and with threads.
func TestRunKilled(t *testing.T) {
	program := build(t, "threads")
	for range 10 {
		r := startRun(t, program, "4")
		r.expect("ready")
		pid := r.command()
		unix.Kill(-r.cmd.Process.Pid, unix.SIGQUIT)
		r.cmd.Process.Kill()
		r.cmd.Process.Wait()
		eventually(t, "the kernel lets go", func() bool {
			s, err := readStatus(pid)
			return err != nil || s.TracerPID == 0
		})
		// SIGQUIT can now end it at any time by its default action; otherwise it runs.
		if held, err := heldThreads(pid); err == nil && len(held) > 0 {
			t.Error(held)
		}
		unix.Kill(pid, unix.SIGKILL)
	}
}
