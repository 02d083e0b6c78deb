// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"bytes"
	"errors"
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
)

// A Process is a program of this package that runs until its test ends.
type Process struct {
	PID   int
	Stdin io.WriteCloser // stays open, so that a program can wait for input

	cmd    *exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer
	errors bytes.Buffer  // read once it has exited
	first  chan struct{} // closed when the program first writes output, or closes it
	exited chan struct{}
}

// Start runs a program, and returns when it has written something to standard output:
// "ready", or a prompt. The end of the test kills it.
func Start(t testing.TB, path string, args ...string) *Process {
	t.Helper()
	return start(t, exec.Command(path, args...))
}

// StartElsewhere runs a copy of a program in a new mount namespace, at a path that does not
// exist outside: /clew-hidden/NAME. Without root's rights it skips the test.
func StartElsewhere(t testing.TB, path string, args ...string) *Process {
	t.Helper()
	unshare := RequireTool(t, "unshare")
	probe := exec.Command(unshare, "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("skipped: cannot make a mount namespace: %s", strings.TrimSpace(string(out)))
	}
	// Only this program sees the tmpfs at /mnt.
	const script = `mount -t tmpfs tmpfs /mnt && mkdir /mnt/clew-hidden && ` +
		`cp "$1" /mnt/clew-hidden/ && p=/mnt/clew-hidden/${1##*/} && shift && exec "$p" "$@"`
	return start(t, exec.Command(unshare, append([]string{"-m", "sh", "-c", script, "sh", path}, args...)...))
}

func start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{cmd: cmd, first: make(chan struct{}), exited: make(chan struct{})}
	cmd.Stderr = &p.errors
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
	p.PID, p.Stdin = cmd.Process.Pid, stdin
	go p.run(stdout)
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.exited
		stdin.Close()
	})
	select {
	case <-p.first:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%q is not ready after 2 min", cmd.Args)
	}
	if p.Output() == "" {
		<-p.exited
		t.Fatalf("%q ended before it was ready: %v\n%s", cmd.Args, cmd.ProcessState, p.errors.String())
	}
	return p
}

// run collects the program's output until the program ends.
func (p *Process) run(stdout io.Reader) {
	defer close(p.exited)
	once := sync.OnceFunc(func() { close(p.first) })
	buffer := make([]byte, 4096)
	for {
		n, err := stdout.Read(buffer)
		p.mu.Lock()
		p.output.Write(buffer[:n])
		p.mu.Unlock()
		if n > 0 || err != nil {
			once()
		}
		if err != nil {
			break
		}
	}
	p.cmd.Wait()
}

// Kill ends the process, and returns once it has ended.
func (p *Process) Kill() {
	syscall.Kill(p.PID, syscall.SIGKILL)
	<-p.exited
}

// Quit sends SIGQUIT to the process, and returns its standard error once it has ended. For a
// Go program that is the stacks of its goroutines.
func (p *Process) Quit() string {
	syscall.Kill(p.PID, syscall.SIGQUIT)
	<-p.exited
	return p.errors.String()
}

// Output returns the standard output of the program so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Running reports whether the program has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Settle waits until every thread sleeps in a system call, so that the stacks no longer
// change. It is for programs that do not loop.
func (p *Process) Settle(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for previous := ""; time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		now, err := sleeping(p.PID)
		if err != nil {
			t.Fatalf("process %d: %v", p.PID, err)
		}
		if now != "" && now == previous {
			return
		}
		previous = now
	}
	t.Fatalf("process %d has threads that do not sleep after 2 min", p.PID)
}

// sleeping returns each thread's system call, stack pointer and count of context switches,
// or "" if a thread runs.
func sleeping(pid int) (string, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return "", err
	}
	if len(tasks) == 0 {
		return "", os.ErrProcessDone
	}
	var all strings.Builder
	for _, task := range tasks {
		call, err := os.ReadFile(task + "/syscall")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			return "", nil // the thread ended meanwhile
		}
		if err != nil {
			return "", err
		}
		status, err := os.ReadFile(task + "/status")
		if err != nil || string(call) == "running\n" || !bytes.Contains(status, []byte("\nState:\tS")) {
			return "", nil
		}
		_, switches, _ := bytes.Cut(status, []byte("voluntary_ctxt_switches"))
		all.Write(call)
		all.Write(switches)
	}
	return all.String(), nil
}
