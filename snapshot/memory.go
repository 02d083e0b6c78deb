// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// ThreadMemory is the memory of a snapshot as one of its threads sees it: its
// copied stack first, which belongs to the moment of its registers as its other copies
// and the snapshot's do, then whatever Snapshot.Memory reads. It implements cfi.Memory. It
// is not safe for concurrent use, since it remembers late reads; each goroutine makes its
// own.
type ThreadMemory struct {
	snapshot *Snapshot
	thread   *Thread
	late     uint64
	isLate   bool
	pages    *pages // nil where nothing is kept
}

// ThreadMemory returns the memory as t, a thread of s, sees it.
func (s *Snapshot) ThreadMemory(t *Thread) *ThreadMemory {
	return &ThreadMemory{snapshot: s, thread: t}
}

// Thread returns the thread whose view of memory this is.
func (m *ThreadMemory) Thread() *Thread { return m.thread }

// Keep makes the memory read whole pages from Snapshot.Memory and keep about 1 MiB of
// them. A second read of a kept page returns the same bytes.
func (m *ThreadMemory) Keep() {
	if m.pages == nil {
		m.pages = new(pages)
	}
}

// ReadMemory implements cfi.Memory.
func (m *ThreadMemory) ReadMemory(p []byte, addr uint64) error {
	stack, start := m.thread.Stack, m.thread.StackAddress
	// One comparison: an address below start wraps to a huge offset.
	if at := addr - start; at < uint64(len(stack)) {
		n := copy(p, stack[at:])
		if n == len(p) {
			return nil
		}
		return m.readBeyond(p[n:], addr+uint64(n))
	}
	if err := m.readBeyond(p, addr); err != nil {
		return err
	}
	// What was asked for may begin below the copy and reach into it.
	if at := start - addr; at < uint64(len(p)) {
		copy(p[at:], stack)
	}
	return nil
}

// ReadCode implements unwind.CodeMemory. Late does not report such reads of code: a JIT
// compiler's code is writable, and the frames after it do not depend on it.
func (m *ThreadMemory) ReadCode(p []byte, addr uint64) error {
	late, isLate := m.late, m.isLate
	err := m.ReadMemory(p, addr)
	m.late, m.isLate = late, isLate
	return err
}

func (m *ThreadMemory) readBeyond(p []byte, addr uint64) error {
	if w := &m.thread.Override; addr == w.Address && addr != 0 && len(p) == 8 {
		binary.LittleEndian.PutUint64(p, w.Value)
		return nil
	}
	for _, copies := range [...][]Copy{m.thread.Copies, m.snapshot.Copies} {
		if m.thread.Late {
			break
		}
		n := readCopies(copies, p, addr)
		if n == len(p) {
			return nil
		}
		p, addr = p[n:], addr+uint64(n)
	}
	if m.snapshot.Memory == nil {
		return fmt.Errorf("memory %#x: %d bytes are beyond the copied stack", addr, len(p))
	}
	var err error
	if m.pages != nil {
		err = m.pages.read(m.snapshot.Memory, p, addr)
	} else {
		err = m.snapshot.Memory.ReadMemory(p, addr)
	}
	if err != nil {
		return err
	}
	if m.snapshot.Live && !m.isLate && m.changeable(addr) {
		m.late, m.isLate = addr, true
	}
	return nil
}

// ReadCopies reads memory at addr from one of the snapshot's copies, and returns the
// number of bytes read.
func (s *Snapshot) ReadCopies(p []byte, addr uint64) int { return readCopies(s.Copies, p, addr) }

func readCopies(copies []Copy, p []byte, addr uint64) int {
	i := sort.Search(len(copies), func(i int) bool { return copies[i].Address > addr }) - 1
	if i < 0 || addr-copies[i].Address >= uint64(len(copies[i].Bytes)) {
		return 0
	}
	return copy(p, copies[i].Bytes[addr-copies[i].Address:])
}

// changeable reports whether the target can have changed addr since it was
// stopped. What it may not write (code, constants, unwind tables) is taken to
// be what it was.
func (m *ThreadMemory) changeable(addr uint64) bool {
	mapping := m.snapshot.Mapping(addr)
	return mapping == nil || mapping.Writable
}

// Late reports whether a read returned writable memory as it was after the target had
// continued to run, and the address of the first such read. Results derived from it may
// not match the registers.
func (m *ThreadMemory) Late() (addr uint64, late bool) { return m.late, m.isLate }

// ForgetLate makes Late report only later reads.
func (m *ThreadMemory) ForgetLate() { m.late, m.isLate = 0, false }
