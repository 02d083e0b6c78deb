// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// goroutinePause is after which pause no more goroutines are copied. A chunk of them takes a
// part of a millisecond.
const goroutinePause = 700 * time.Microsecond

// copyRuntimes copies the Go runtimes' data about threads, before stacks are copied.
func (c *capture) copyRuntimes() {
	tid := c.reader()
	for _, g := range c.goroutines {
		g.CopyThreads(func(round []snapshot.Copy) { c.stacks.readRound(tid, round) })
	}
}

// stackEnd returns the end of the stack at a stack pointer, if a Go runtime allocated it.
func (c *capture) stackEnd(sp uint64) (end uint64, ok bool) {
	for _, g := range c.goroutines {
		if end, ok = g.StackEnd(sp); ok {
			break
		}
	}
	return end, ok
}

// copyGoroutines copies the stacks of goroutines.
func (c *capture) copyGoroutines() {
	tid := c.reader()
	more := func() bool { return time.Since(c.started) < goroutinePause }
	for _, g := range c.goroutines {
		c.copies = append(c.copies, g.Copy(func(round []snapshot.Copy) { c.stacks.readRound(tid, round) }, more)...)
	}
}

// maxGap is the largest distance in bytes of two copies that are read as one range. The
// kernel pins the pages of each range, which takes longer than reading some more bytes. The
// structures of goroutines are adjacent, and their ends are not needed.
const maxGap = 256

// readRound fills copies with the memory of a process. It sets copies to nil that cannot be
// read to their end.
func (s *stackCopier) readRound(tid int, round []snapshot.Copy) {
	for len(round) > 0 {
		s.local, s.remote = s.local[:0], s.remote[:0]
		for i := range round {
			c := &round[i]
			k := len(s.remote) - 1
			if k >= 0 && c.Address-s.remoteEnd(k) <= maxGap {
				if gap := int(c.Address - s.remoteEnd(k)); gap > 0 {
					s.addLocal(s.gap[:gap])
				}
				s.remote[k].Len = int(c.Address+uint64(len(c.Bytes))) - int(s.remote[k].Base)
			} else {
				s.remote = append(s.remote, unix.RemoteIovec{Base: uintptr(c.Address), Len: len(c.Bytes)})
			}
			if s.addLocal(c.Bytes); len(s.local) > iovMax-2 {
				break
			}
		}
		n, errno := s.read(tid)
		if errno != 0 && errno != unix.EFAULT {
			for i := range round {
				round[i].Bytes = nil
			}
			return
		}
		done, isGap := 0, false
		for k := range s.local {
			isGap = s.local[k].Base == &s.gap[0]
			if n -= int(s.local[k].Len); n < 0 {
				break
			}
			if !isGap {
				done++
			}
		}
		if n < 0 && !isGap { // otherwise the next round starts at the next copy
			round[done].Bytes = nil
			done++
		}
		round = round[done:]
	}
}

func (s *stackCopier) addLocal(b []byte) {
	v := unix.Iovec{Base: unsafe.SliceData(b)}
	v.SetLen(len(b))
	s.local = append(s.local, v)
}

// add adds a range of the process to read into b.
func (s *stackCopier) add(address uint64, b []byte) {
	s.addLocal(b)
	s.remote = append(s.remote, unix.RemoteIovec{Base: uintptr(address), Len: len(b)})
}

// remoteEnd returns the end of range k in the process.
func (s *stackCopier) remoteEnd(k int) uint64 {
	return uint64(s.remote[k].Base) + uint64(s.remote[k].Len)
}

// monotonic returns the monotonic clock of a process, 0 if unknown.
func monotonic(pid int) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano()) + clockOffset(strconv.Itoa(pid)) - clockOffset("self")
}

// clockOffset returns the offset of the monotonic clock of a process's time namespace
// (time_namespaces(7)).
func clockOffset(process string) time.Duration {
	data, _ := os.ReadFile("/proc/" + process + "/timens_offsets")
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "monotonic" {
			seconds, _ := strconv.ParseInt(f[1], 10, 64)
			nanoseconds, _ := strconv.ParseInt(f[2], 10, 64)
			return time.Duration(seconds)*time.Second + time.Duration(nanoseconds)
		}
	}
	return 0
}
