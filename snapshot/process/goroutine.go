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

// goroutinePause is how long threads have stood still when no more goroutines are
// copied, which takes a part of a millisecond a chunk.
const goroutinePause = 700 * time.Microsecond

// copyRuntimes copies what Go's runtimes know of their threads, before stacks are copied.
func (c *capture) copyRuntimes() {
	tid := c.reader()
	for _, g := range c.goroutines {
		g.CopyThreads(func(round []snapshot.Copy) { c.stacks.readRound(tid, round) })
	}
}

// stackEnd returns where a stack ends that a Go runtime has allocated, and reports
// whether one has.
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

// maxGap is how far two copies may be apart that are read as one place, bytes: the kernel
// looks up and pins the pages of each place, which takes longer than to read some more.
// Goroutines' structures lie side by side, and are read but for their ends.
const maxGap = 256

// readRound fills copies with the memory of a process. Those that cannot be read to
// their end are set to nil.
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
		if n < 0 && !isGap { // else the next one begins the next round
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

// remoteEnd returns where place k ends in the process.
func (s *stackCopier) remoteEnd(k int) uint64 {
	return uint64(s.remote[k].Base) + uint64(s.remote[k].Len)
}

// monotonic returns what the monotonic clock says that a process has, 0 where that is
// not to be had.
func monotonic(pid int) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano()) + clockOffset(strconv.Itoa(pid)) - clockOffset("self")
}

// clockOffset returns by how much the monotonic clock of a process's time namespace is
// ahead (time_namespaces(7)).
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
