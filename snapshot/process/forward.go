// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that a terminal, or whoever ends a job, sends to
// all processes of it.
var forwarded = []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP}

const (
	// settle is how long the same signal may take to reach two processes.
	settle = 100 * time.Millisecond
	// together is how long ago the command may have seen the signal that this
	// program takes now: on a busy machine either can be late.
	together = time.Second
)

// signalTimes remembers when each signal last reached the command.
type signalTimes [65]atomic.Int64

func (s *signalTimes) now(signal syscall.Signal) {
	if int(signal) < len(s) {
		s[signal].Store(time.Now().UnixNano())
	}
}

// forwarder keeps the forwarded signals from ending this program, and passes
// on those that do not reach the command by themselves.
type forwarder struct {
	seen    signalTimes // of the command, without those that were passed on
	signals chan os.Signal
	done    chan struct{}
}

// catch begins to take signals. Those that are ignored stay so, since the
// command is to inherit that (nohup).
func (f *forwarder) catch() {
	f.signals = make(chan os.Signal, 16)
	f.done = make(chan struct{})
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			signal.Notify(f.signals, s)
		}
	}
}

// forward passes signals on until release is called. A signal that both
// processes got is not passed on: twice is not what its sender meant.
func (f *forwarder) forward(to *os.Process) {
	for {
		select {
		case s := <-f.signals:
			n, came := s.(syscall.Signal), time.Now()
			for more := true; more; more = stopping(to.Pid) {
				select {
				case <-time.After(settle):
				case <-f.done:
					return
				}
			}
			if came.Sub(time.Unix(0, f.seen[n].Load())) > together && !pending(to.Pid, n) {
				to.Signal(n)
			}
		case <-f.done:
			return
		}
	}
}

// stopping reports whether a thread has stopped and its tracer did not let it go on
// yet: it may have taken the signal.
func stopping(pid int) bool {
	tids, _ := listThreads(pid, nil)
	for _, tid := range tids {
		if threadState(pid, tid) == 't' {
			return true
		}
	}
	return false
}

// pending reports whether the command has been sent a signal that it did not take yet.
func pending(pid int, n syscall.Signal) bool {
	s, err := readStatus(pid)
	return err == nil && hasBit(s.Pending, int(n)-1)
}

func (f *forwarder) release() {
	signal.Stop(f.signals)
	close(f.done)
}
