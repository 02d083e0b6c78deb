// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// With one of these as its first argument, this program runs the command that follows and
// prints how many bytes of memory the command had.
const (
	// peakMemory is the maximum of all memory. The kernel counts for a command the memory
	// of the program that started it, until it executes. So a small program must start it:
	// this one, before it has measured anything.
	peakMemory = "peak"

	// anonymousMemory is the memory at exit that belongs to no file. The peak also counts
	// pages of files, which are in the page cache anyway: of the command's own file the
	// kernel maps sixteen around each page that is touched, and more where the file was
	// written in one piece.
	anonymousMemory = "own"
)

// memory is a contender that runs a program and measures one kind of memory.
func memory(kind, name string, goal float64, path string, arguments ...string) contender {
	return contender{name: name, program: path, goal: goal, run: func() (o outcome, err error) {
		self, err := os.Executable()
		if err != nil {
			return o, err
		}
		out, err := exec.Command(self, append([]string{kind, path}, arguments...)...).Output()
		if err != nil {
			return o, fmt.Errorf("%s %q: %w", path, arguments, err)
		}
		_, err = fmt.Sscan(string(out), &o.peak)
		return o, err
	}}
}

// printMemory runs a command and prints its memory.
func printMemory(kind string, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	if kind == peakMemory {
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 { // clew check exits with 1 for findings
			return err
		}
		fmt.Println(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10)
		return nil
	}
	runtime.LockOSThread() // the tracer
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	n, err := anonymousAtExit(cmd.Process.Pid)
	if err == nil {
		fmt.Println(n)
	}
	return err
}

var anonymous = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// anonymousAtExit resumes a process that has just executed its program, and returns the
// bytes of its anonymous memory when it exits.
func anonymousAtExit(pid int) (size uint64, err error) {
	var status unix.WaitStatus
	for options := false; ; {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
			return 0, err
		}
		if !status.Stopped() {
			break
		}
		if !options {
			options = true
			if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXIT|unix.PTRACE_O_EXITKILL); err != nil {
				return 0, err
			}
		}
		signal := 0
		switch status.TrapCause() {
		case unix.PTRACE_EVENT_EXIT:
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				return 0, err
			}
			if m := anonymous.FindSubmatch(text); m != nil {
				size, _ = strconv.ParseUint(string(m[1]), 10, 64)
			}
		case -1: // not a trap
			signal = int(status.StopSignal())
		}
		if err := unix.PtraceCont(pid, signal); err != nil {
			return 0, err
		}
	}
	if size == 0 || status.ExitStatus() != 0 {
		return 0, fmt.Errorf("exit status %d, %d kB of anonymous memory", status.ExitStatus(), size)
	}
	return size << 10, nil
}
