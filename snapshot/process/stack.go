// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"runtime"
	"sort"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

const (
	// redZone is how far below the stack pointer a leaf function may keep
	// data: psABI amd64 §3.2.2. Copied for every machine, since it is cheap.
	redZone = 128

	defaultStackLimit = 1 << 20

	// sharedBudget bounds the total bytes of stacks whose end is unknown: stacks in a heap,
	// as those of goroutines or coroutines, and in mappings that are newer than the list.
	// Each thread gets at least sharedMinimum.
	sharedBudget  = 2 << 20
	sharedMinimum = 64 << 10

	// maxGuard exceeds the size of any guard below a stack: glibc's and musl's have a
	// page or two, the JVM's a dozen.
	maxGuard = 1 << 20

	// copyBudget bounds the bytes copied of all threads, and so the pause and the memory.
	// Each thread gets at least minimum, until maxCopied is reached with some thousand
	// threads.
	copyBudget = 64 << 20
	minimum    = 16 << 10
	maxCopied  = 2 * copyBudget
)

// stackCopier copies the stacks of stopped threads with as few system calls as
// the kernel allows.
type stackCopier struct {
	mappings []snapshot.Mapping
	limit    uint64 // bytes of one thread
	left     uint64 // bytes that all threads may still use
	buffer   []byte
	local    []unix.Iovec
	remote   []unix.RemoteIovec
	gap      [maxGap]byte // receives the bytes between copies

	// For copies that are made one by one: the unused part of buffer, and the bytes that
	// they use.
	free  []byte
	taken int
}

// prepare allocates buffers for n threads and touches them, so that no page
// fault of this process lengthens the pause.
func (s *stackCopier) prepare(n int) {
	s.touch(min(copyBudget, 128<<10+n*8<<10))
	s.prepareLists(n)
}

// touch allocates n bytes and touches them.
func (s *stackCopier) touch(n int) {
	s.buffer = make([]byte, n)
	for i := 0; i < n; i += 4096 {
		s.buffer[i] = 0
	}
}

func (s *stackCopier) prepareLists(n int) {
	s.local = make([]unix.Iovec, 0, n)
	s.remote = make([]unix.RemoteIovec, 0, n)
}

// extent returns the range of a stack to copy: from below the stack pointer to
// the end of its mapping, or of the address space if the mapping is unknown. Own reports
// whether that is the end of the stack.
func (s *stackCopier) extent(sp uint64) (start, end uint64, own bool) {
	start = (sp - min(sp, redZone)) &^ 15
	i := sort.Search(len(s.mappings), func(i int) bool { return s.mappings[i].End > sp })
	if i == len(s.mappings) {
		return start, ^uint64(0), false
	}
	m := &s.mappings[i]
	switch {
	case m.Start <= sp:
		return max(start, m.Start), m.End, s.ownStack(i)
	case m.Path == "[stack]" && m.Start-sp <= 8<<20:
		// The first thread's stack has grown since the list was read.
		return start, m.End, true
	}
	return start, m.Start, false
}

// ownStack reports whether mapping i seems to hold one stack and nothing above
// it: the stack of the first thread, or a stack with a guard below it. Go's
// heap has a reserve of tens of MiB below it, which is not a guard.
func (s *stackCopier) ownStack(i int) bool {
	m := &s.mappings[i]
	if m.Path == "[stack]" {
		return true
	}
	if i == 0 {
		return false
	}
	below := &s.mappings[i-1]
	return below.End == m.Start && below.End-below.Start <= maxGuard &&
		!below.Readable && !below.Writable && !below.Executable
}

// take returns a buffer for a copy.
func (s *stackCopier) take(n int) []byte {
	s.taken += n
	if n > len(s.free) {
		s.free = make([]byte, max(n, minAllocation))
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	return b
}

// full returns the error of a thread whose stack exceeds the limits.
func (s *stackCopier) full(t *tracee) error {
	return fmt.Errorf("thread %d: stack at %#x was not copied: those of all threads exceed %d MiB", t.tid, t.start, maxCopied>>20)
}

const minAllocation = 256 << 10 // bytes, enough for some dozen stacks

func saturate(a, b uint64) uint64 {
	if a+b < a {
		return ^uint64(0)
	}
	return a + b
}

// copy copies the stacks of the stopped threads.
func (c *capture) copy() {
	begin := time.Now()
	s := &c.stacks
	column := c.machine.StackPointer
	count, shared := uint64(0), uint64(0)
	for i := range c.tracees {
		t := &c.tracees[i]
		if t.state != stopped || t.err != nil || column < 0 {
			continue
		}
		sp, _ := t.registers.Get(uint64(column))
		t.start, t.end, t.ownStack = s.extent(sp)
		if !t.ownStack {
			if end, ok := c.stackEnd(sp); ok {
				t.end, t.ownStack = min(t.end, end), true
			}
		}
		count++
		if !t.ownStack {
			shared++
		}
	}
	if count == 0 {
		return
	}
	limit := min(s.limit, max(copyBudget/count, minimum))
	sharedLimit := min(limit, max(sharedBudget/max(shared, 1), sharedMinimum))
	total := uint64(0)
	for i := range c.tracees {
		t := &c.tracees[i]
		if t.end == 0 {
			continue
		}
		if t.ownStack {
			t.end = min(t.end, saturate(t.start, limit))
		} else {
			t.end = min(t.end, saturate(t.start, sharedLimit))
		}
		if t.end <= t.start {
			continue
		}
		if size := t.end - t.start; size > s.left {
			t.end, t.err = t.start, s.full(t)
		} else {
			s.left -= size
			total += size
		}
	}
	if total > uint64(len(s.buffer)) {
		s.buffer = make([]byte, total)
	}
	unused := s.buffer
	for i := range c.tracees {
		if t := &c.tracees[i]; t.end > t.start {
			n := t.end - t.start
			t.stack, unused = unused[:n:n], unused[n:]
		}
	}
	c.fill()
	c.phases.copy = time.Since(begin)
}

// fill reads the stacks. One system call reads up to 1024 of them, but ends at the first that
// cannot be read to its end.
func (c *capture) fill() {
	s := &c.stacks
	for i := 0; i < len(c.tracees); {
		s.local, s.remote = s.local[:0], s.remote[:0]
		j := i
		for ; j < len(c.tracees) && len(s.local) < iovMax; j++ {
			t := &c.tracees[j]
			if len(t.stack) == 0 {
				continue
			}
			s.add(t.start, t.stack)
		}
		if len(s.local) == 0 {
			return
		}
		n, errno := s.read(c.reader())
		i = c.account(i, j, n, errno)
	}
}

// account distributes n read bytes over the stacks of the threads from first to end, and
// shortens the stack that was not read to its end. It returns the first thread after that.
func (c *capture) account(first, end, n int, errno unix.Errno) (next int) {
	for i := first; i < end; i++ {
		t := &c.tracees[i]
		if len(t.stack) == 0 {
			continue
		}
		if n >= len(t.stack) {
			n -= len(t.stack)
			continue
		}
		t.stack = t.stack[:n:n]
		if n == 0 {
			if errno == 0 {
				errno = unix.EFAULT
			}
			t.err = fmt.Errorf("thread %d: stack at %#x was not copied: process_vm_readv: %w", t.tid, t.start, errno)
			t.stack = nil
		}
		return i + 1
	}
	return end
}

const iovMax = 1024 // include/uapi/linux/uio.h, UIO_MAXIOV

// reader returns a thread through which the target's memory can be read. The first thread can
// have ended before the others.
func (c *capture) reader() int {
	for i := range c.tracees {
		if c.tracees[i].state == stopped {
			return c.tracees[i].tid
		}
	}
	return c.pid
}

func (s *stackCopier) read(tid int) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid),
		uintptr(unsafe.Pointer(&s.local[0])), uintptr(len(s.local)),
		uintptr(unsafe.Pointer(&s.remote[0])), uintptr(len(s.remote)), 0)
	runtime.KeepAlive(s.buffer)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
