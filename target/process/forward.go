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

// settle is how long the same signal may take to reach two processes.
const settle = 50 * time.Millisecond

// signalTimes remembers when each signal last reached the command.
type signalTimes [65]atomic.Int64

func (s *signalTimes) now(signal syscall.Signal) {
	if int(signal) < len(s) {
		s[signal].Store(time.Now().UnixNano())
	}
}

// forwardSignals keeps the forwarded signals from ending this program, and
// passes those on to a process that do not reach it by themselves: seen
// tells which did. Twice would not be what the sender meant.
func forwardSignals(to *os.Process, seen *signalTimes) (stop func()) {
	signals := make(chan os.Signal, 16)
	done := make(chan struct{})
	signal.Notify(signals, forwarded...)
	go func() {
		for {
			select {
			case s := <-signals:
				select {
				case <-time.After(settle):
				case <-done:
					return
				}
				n := s.(syscall.Signal)
				if time.Since(time.Unix(0, seen[n].Load())) > 4*settle {
					to.Signal(n)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
