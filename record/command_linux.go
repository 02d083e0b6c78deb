// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts a command, which stands at its first instruction until release is called. ended
// reports whether it has exited, and then waits for it.
func start(cmd *exec.Cmd) (ended func() bool, release func() error, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Ptrace = true
	// The kernel accepts the tracer's requests from the thread that started the command only.
	type result struct {
		stop error
		let  chan chan error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- result{stop: err}
			return
		}
		pid := cmd.Process.Pid
		var status unix.WaitStatus
		for {
			_, err := unix.Wait4(pid, &status, unix.WALL, nil)
			if err == nil {
				break
			}
			if err != unix.EINTR {
				started <- result{stop: fmt.Errorf("%s: %w", cmd.Path, err)}
				return
			}
		}
		if !status.Stopped() {
			started <- result{stop: fmt.Errorf("%s ended before it ran", cmd.Path)}
			return
		}
		let := make(chan chan error)
		started <- result{let: let}
		answer := <-let
		answer <- unix.PtraceDetach(pid)
	}()
	r := <-started
	if r.stop != nil {
		return nil, nil, r.stop
	}
	exited := make(chan struct{})
	released := false
	release = func() error {
		if released {
			return nil
		}
		released = true
		answer := make(chan error)
		r.let <- answer
		if err := <-answer; err != nil {
			return fmt.Errorf("%s could not be started: %w", cmd.Path, err)
		}
		go func() {
			cmd.Wait()
			close(exited)
		}()
		return nil
	}
	ended = func() bool {
		select {
		case <-exited:
			return true
		default:
			return false
		}
	}
	return ended, release, nil
}

// allEnded returns a function that reports whether all of some processes have exited, false without
// any.
func allEnded(pids []int) func() bool {
	var alive []*os.Process
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			alive = append(alive, p)
		}
	}
	return func() bool {
		for len(alive) > 0 && errors.Is(alive[0].Signal(syscall.Signal(0)), os.ErrProcessDone) {
			alive[0].Release()
			alive = alive[1:]
		}
		return len(pids) > 0 && len(alive) == 0
	}
}
