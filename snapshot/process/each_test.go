// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/internal/testprogram"
)

// prepareCapture returns a capture of a process's threads, one at a time. It has not listed them
// yet.
func prepareCapture(t *testing.T, pid int) *capture {
	t.Helper()
	c, s, err := prepare(pid, &Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.tasks.close()
		s.Memory.(*Memory).Close()
	})
	return c
}

// An attached thread stops for any signal. So no thread is attached before its turn.
func TestAttachesInTurn(t *testing.T) {
	child := start(t, build(t, "threads"), "8")
	c := prepareCapture(t, child.pid)
	onTracerThread(func() bool {
		if _, err := c.list(); err != nil {
			t.Error(err)
			return true
		}
		c.prepareEach()
		defer sigchld.Quiet()()
		for asked := 0; ; asked++ {
			for i := range c.tracees {
				s, err := readStatus(c.tracees[i].tid)
				if err != nil {
					t.Error(err)
				} else if got := s.TracerPID != 0; got != (i < asked) {
					t.Errorf("%d threads were asked to stop, and number %d is attached to: %v", asked, i, got)
				}
			}
			if !c.askNext() {
				break
			}
		}
		c.stopEach()
		return !c.unclean
	})
	if len(c.tracees) != 9 {
		t.Errorf("%d threads, expected 9", len(c.tracees))
	}
	for i := range c.tracees {
		if th := &c.tracees[i]; th.state != stopped || th.err != nil || th.stood <= 0 || len(th.stack) == 0 {
			t.Errorf("thread %d: state %d, stood still for %v, %d bytes of its stack, %v", th.tid, th.state, th.stood, len(th.stack), th.err)
		}
	}
	checkReleased(t, child.pid)
}

// A listed ID that now belongs to another process is left alone, and the ID of an ended thread
// delays no other.
func TestAttachesToNoOther(t *testing.T) {
	child := start(t, build(t, "threads"), "2")
	other := exec.Command(testprogram.RequireTool(t, "sleep"), "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	c := prepareCapture(t, child.pid)
	onTracerThread(func() bool {
		if _, err := c.list(); err != nil {
			t.Error(err)
			return true
		}
		c.tracees = append([]tracee{{tid: other.Process.Pid}, {tid: 1<<30 - 1}}, c.tracees...)
		c.prepareEach()
		defer sigchld.Quiet()()
		c.stopEach()
		return !c.unclean
	})
	for i := range c.tracees {
		want := stopped
		if i < 2 {
			want = gone
		}
		if th := &c.tracees[i]; th.state != want || (th.stood > 0) != (want == stopped) {
			t.Errorf("thread %d: state %d, expected %d, stood still for %v", th.tid, th.state, want, th.stood)
		}
	}
	checkReleased(t, child.pid)
}

// All copies of stacks together stay below the limit, and stacks that do not fit report that,
// whether threads stop together or one at a time.
func TestStacksAreBounded(t *testing.T) {
	child := start(t, build(t, "threads"), "8")
	for name, stop := range map[string]func(c *capture) error{
		"together": func(c *capture) error {
			_, err := c.attach()
			c.stacks.prepare(len(c.tracees))
			c.stop()
			c.copy()
			c.detach()
			return err
		},
		"each": func(c *capture) error {
			_, err := c.list()
			c.prepareEach()
			c.stopEach()
			return err
		},
	} {
		c := prepareCapture(t, child.pid)
		const limit = 10 << 10
		c.stacks.left, c.stacks.limit = limit, 4<<10
		onTracerThread(func() bool {
			defer sigchld.Quiet()()
			if err := stop(c); err != nil {
				t.Error(err)
			}
			return !c.unclean
		})
		copied, full := 0, 0
		for i := range c.tracees {
			th := &c.tracees[i]
			copied += len(th.stack)
			if th.state != stopped || th.registers.PC == 0 {
				t.Errorf("%s: thread %d: state %d, program counter %#x", name, th.tid, th.state, th.registers.PC)
			}
			switch {
			case th.err == nil && len(th.stack) > 0:
			case th.err != nil && len(th.stack) == 0 && strings.Contains(th.err.Error(), "was not copied: those of all threads exceed 128 MiB"):
				full++
			default:
				t.Errorf("%s: thread %d: %d bytes of its stack, %v", name, th.tid, len(th.stack), th.err)
			}
		}
		if copied == 0 || copied > limit || full == 0 {
			t.Errorf("%s: %d bytes were copied of %d, and %d stacks were not", name, copied, limit, full)
		}
		checkReleased(t, child.pid)
	}
}

// The pause of a thread counts from before it was asked to stop, whenever it is checked.
func TestPauseBeginsWithRequest(t *testing.T) {
	child := start(t, build(t, "threads"), "4")
	c := prepareCapture(t, child.pid)
	onTracerThread(func() bool {
		if _, err := c.list(); err != nil {
			t.Error(err)
			return true
		}
		c.prepareEach()
		defer sigchld.Quiet()()
		c.askNext()
		// It stands still, and is not checked for a while.
		begin := time.Now()
		var info waitInfo
		for info.PID == 0 && time.Since(begin) < time.Minute {
			peek(c.tracees[0].tid, &info)
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 20e6}, nil)
		c.stopEach()
		return !c.unclean
	})
	if stood := c.tracees[0].stood; stood < 20*time.Millisecond {
		t.Errorf("a thread stood still for more than 20 ms, and is said to have for %v", stood)
	}
	checkReleased(t, child.pid)
}
