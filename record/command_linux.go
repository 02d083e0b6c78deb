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

// command is a program that Run starts. It stands at its first instruction until release or
// abort is called.
type command struct {
	cmd      *exec.Cmd
	resume   chan bool     // true releases the command; closed without a value, it is not released
	resumed  chan error    // the result of the release
	exited   chan struct{} // closed when it has exited
	released bool
}

// start starts a command.
func start(cmd *exec.Cmd) (*command, error) {
	if cmd.Err == nil && cmd.Process == nil {
		if err := hasOtherRights(cmd.Path); err != nil {
			return nil, err
		}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Ptrace = true
	c := &command{cmd: cmd, resume: make(chan bool), resumed: make(chan error), exited: make(chan struct{})}
	started := make(chan error)
	// The kernel accepts the tracer's requests from the thread that started the command only.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		if err := awaitStop(cmd.Process.Pid); err != nil {
			cmd.Process.Kill()
			cmd.Wait()
			started <- fmt.Errorf("%s could not be started: %w", cmd.Path, err)
			return
		}
		started <- nil
		if <-c.resume {
			err := unix.PtraceDetach(cmd.Process.Pid)
			if err == unix.ESRCH {
				err = nil // something has killed it
			}
			c.resumed <- err
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// awaitStop waits until a traced command stops before its first instruction. If this program dies
// later, the kernel ends the trace and the command runs: the SIGTRAP of a stop that was waited for
// is not delivered.
func awaitStop(pid int) error {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err == nil && !status.Stopped():
			err = errors.New("it ended before its first instruction")
		}
		return err
	}
}

// hasOtherRights returns an error for a program that would run with more rights than this one.
// The kernel would start it without them, because it is traced, and refuses samples of it anyway.
func hasOtherRights(path string) error {
	var st unix.Stat_t
	if os.Geteuid() == 0 || unix.Stat(path, &st) != nil {
		return nil
	}
	capabilities, _ := unix.Getxattr(path, "security.capability", nil)
	if st.Mode&unix.S_ISUID != 0 && int(st.Uid) != os.Geteuid() ||
		st.Mode&unix.S_ISGID != 0 && int(st.Gid) != os.Getegid() || capabilities > 0 {
		return fmt.Errorf("%s: %w: the program runs with rights that this user does not have; record it as root", path, ErrRefused)
	}
	return nil
}

// release lets the command run. It is not traced any more.
func (c *command) release() error {
	c.resume <- true
	if err := <-c.resumed; err != nil {
		return fmt.Errorf("%s could not be started: %w", c.cmd.Path, err)
	}
	c.released = true
	fd, err := unix.PidfdOpen(c.cmd.Process.Pid, 0)
	go func() {
		defer close(c.exited)
		if err == nil {
			// Wait would take the stops of threads that this program traces.
			awaitExit(fd)
			unix.Close(fd)
		}
		c.cmd.Wait()
	}()
	return nil
}

// awaitExit waits until the process of a pidfd has exited.
func awaitExit(fd int) {
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
			return
		}
	}
}

// ended reports whether the command has exited.
func (c *command) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// finish returns when the command has exited. It kills a command that was not released, and asks
// one that still runs to exit.
func (c *command) finish() error {
	if !c.released {
		close(c.resume)
		c.cmd.Process.Kill()
		c.cmd.Wait()
		return nil
	}
	var err error
	if !c.ended() {
		end := c.cmd.Cancel
		if end == nil {
			end = func() error { return c.cmd.Process.Signal(unix.SIGTERM) }
		}
		if err = end(); errors.Is(err, os.ErrProcessDone) {
			err = nil
		}
	}
	if err == nil {
		<-c.exited
	}
	return err
}

// processes are the running processes that are recorded.
type processes struct {
	left []running // have not exited
	any  bool
}

// running is a process.
type running struct {
	pid int
	fd  int // a pidfd, or -1 if the kernel has or allows none
}

// ended reports whether the process has exited, also if its parent has not waited for it.
func (r running) ended() bool {
	if r.fd < 0 {
		return unix.Kill(r.pid, 0) == unix.ESRCH
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func (r running) close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
	}
}

// noProcess is the error for the ID of a process that has ended, or never ran. It is
// os.ErrProcessDone.
type noProcess int

func (n noProcess) Error() string        { return fmt.Sprintf("process %d does not run", int(n)) }
func (n noProcess) Is(target error) bool { return target == os.ErrProcessDone }

func watch(pids []int) (*processes, error) {
	p := &processes{any: len(pids) > 0}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		switch err {
		case nil:
		case unix.ESRCH:
			err = noProcess(pid)
		case unix.EINVAL, unix.ENOENT:
			err = fmt.Errorf("%d is a thread, expected the ID of a process", pid)
		case unix.EMFILE, unix.ENFILE:
			err = fmt.Errorf("process %d: %w", pid, err)
		default:
			fd, err = -1, nil
		}
		if err != nil {
			p.finish()
			return nil, err
		}
		p.left = append(p.left, running{pid, fd})
	}
	return p, nil
}

func (p *processes) release() error { return nil }

// ended reports whether all processes have exited, false without any.
func (p *processes) ended() bool {
	for len(p.left) > 0 && p.left[0].ended() {
		p.left[0].close()
		p.left = p.left[1:]
	}
	return p.any && len(p.left) == 0
}

func (p *processes) finish() error {
	for _, r := range p.left {
		r.close()
	}
	p.left = nil
	return nil
}
