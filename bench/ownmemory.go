// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownArgument as the first argument has this program run a command and print how many
// bytes of memory it has in the end that are no file's. The peak that the kernel counts
// has the pages of files in it too, which are in its cache anyway: of the command's own
// file it maps sixteen around each that is touched, and more where the file was written
// in one piece.
const ownArgument = "own"

var anonymous = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

func printOwn(command []string) {
	runtime.LockOSThread() // the tracer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	n, err := ownAtExit(cmd.Process.Pid)
	if err != nil {
		fail(err)
	}
	fmt.Println(n)
}

// ownAtExit lets a process that has just executed its program run, and returns what it
// has when it exits.
func ownAtExit(pid int) (size uint64, err error) {
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
		case -1: // no stop for a trap
			signal = int(status.StopSignal())
		}
		if err := unix.PtraceCont(pid, signal); err != nil {
			return 0, err
		}
	}
	if size == 0 || status.ExitStatus() != 0 {
		return 0, errors.New("it did not exit as it should")
	}
	return size << 10, nil
}
