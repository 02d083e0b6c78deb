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

// forwarded are the signals that a terminal or a job manager sends to all processes of a
// job.
var forwarded = []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP}

const (
	// settle is how long the same signal can take to reach two processes.
	settle = 100 * time.Millisecond
	// together is the largest difference between the times at which the command and this
	// program get the same signal on a busy machine.
	together = time.Second
)

// forwarder prevents that the forwarded signals end this program, and passes on those that
// were not sent to the command too.
type forwarder struct {
	seen    [65]atomic.Int64 // when the command last got each signal, except from this program
	signals chan os.Signal
	done    chan struct{}
}

// catch starts to catch signals. Ignored signals stay ignored, so that the command inherits
// that (nohup).
func (f *forwarder) catch() {
	f.signals = make(chan os.Signal, 16)
	f.done = make(chan struct{})
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			signal.Notify(f.signals, s)
		}
	}
}

// forward passes signals on until release is called, except those that both processes got.
func (f *forwarder) forward(to *os.Process) {
	for {
		select {
		case s := <-f.signals:
			n, received := s.(syscall.Signal), time.Now()
			for more := true; more; more = stopping(to.Pid) {
				select {
				case <-time.After(settle):
				case <-f.done:
					return
				}
			}
			if received.Sub(time.Unix(0, f.seen[n].Load())) > together && !pending(to.Pid, n) {
				to.Signal(n)
			}
		case <-f.done:
			return
		}
	}
}

// stopping reports whether a thread is in a ptrace stop: it can have got the signal.
func stopping(pid int) bool {
	tids, _ := listThreads(pid, nil)
	for _, tid := range tids {
		if threadState(pid, tid) == 't' {
			return true
		}
	}
	return false
}

// pending reports whether a signal to the command was not delivered yet.
func pending(pid int, n syscall.Signal) bool {
	s, err := readStatus(pid)
	return err == nil && hasBit(s.Pending, int(n)-1)
}

func (f *forwarder) release() {
	signal.Stop(f.signals)
	close(f.done)
}
