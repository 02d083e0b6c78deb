// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// roleVariable is the environment variable with the role of a process that a test starts from
// its own program.
const roleVariable = "CLEW_TEST_ROLE"

func TestMain(m *testing.M) {
	role, known := roles[os.Getenv(roleVariable)]
	if !known {
		os.Exit(m.Run())
	}
	os.Unsetenv(roleVariable)
	os.Exit(role(os.Args[1:]))
}

var roles = map[string]func(args []string) int{
	"snapshots": takeSnapshots,
	"watch":     watchForEver,
	"trace":     traceForEver,
	"error":     printError,
	"run":       runCommand,

	"goroutines": waitInGoroutines,
}

// asRole returns a command that runs the test program in a role.
func asRole(program, role string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// takeSnapshots takes snapshots of a process until it is killed.
func takeSnapshots(args []string) int {
	pid, _ := strconv.Atoi(args[0])
	fmt.Println("ready")
	for {
		if _, err := Snapshot(pid, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

// watchForEver watches a process until it is killed.
func watchForEver(args []string) int {
	pid, _ := strconv.Atoi(args[0])
	w, err := NewWatch(pid, nil)
	fmt.Println("ready")
	for err == nil {
		_, _, err = w.Snapshot()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// traceForEver attaches to a process and stays.
func traceForEver(args []string) int {
	pid, _ := strconv.Atoi(args[0])
	runtime.LockOSThread()
	if errno := ptrace(unix.PTRACE_SEIZE, pid, 0, 0); errno != 0 {
		fmt.Println(errno)
		return 1
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return 0
}

// printError prints the kind and the text of a snapshot's error.
func printError(args []string) int {
	pid, _ := strconv.Atoi(args[0])
	_, err := Snapshot(pid, nil)
	fmt.Printf("ready\n%t\n%v\n", errors.Is(err, ErrPermission), err)
	return 0
}

// waitInGoroutines keeps some threads blocked in system calls.
func waitInGoroutines([]string) int {
	var threads sync.WaitGroup
	for range 8 {
		threads.Add(1)
		go func() {
			runtime.LockOSThread()
			threads.Done()
			unix.Pause()
		}()
	}
	threads.Wait()
	fmt.Println("ready")
	var line [16]byte
	for {
		if _, err := os.Stdin.Read(line[:]); err != nil {
			return 0
		}
		fmt.Println("runs")
	}
}

// runCommand runs its arguments with Run, prints the calls of its callback on standard error,
// and exits like the command.
func runCommand(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	err := Run(cmd, func(s *snapshot.Snapshot, r Reason) {
		complete := 0
		name := ""
		for _, th := range s.Threads {
			if th.Err == nil && len(th.Stack) > 0 {
				complete++
			}
			if th.ID == r.Thread {
				name = th.Name
			}
		}
		fmt.Fprintf(os.Stderr, "%s crash=%t address=%#x threads=%d complete=%d name=%s\n",
			unix.SignalName(r.Signal), r.Crash, r.Address, len(s.Threads), complete, name)
	})
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 99
	}
	status := cmd.ProcessState.Sys().(interface {
		Signaled() bool
		Signal() unix.Signal
	})
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
