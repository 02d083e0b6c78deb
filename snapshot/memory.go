// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// Copy is a copy of a part of a target's memory, taken at one time.
type Copy struct {
	Address uint64
	Bytes   []byte
}

// BatchMemory is memory that can read many places with few system calls.
type BatchMemory interface {
	cfi.Memory

	// ReadBatch fills the Bytes of the copies. It sets them to nil for a copy that
	// cannot be read completely.
	ReadBatch([]Copy)
}

// ReadBatch fills the Bytes of the copies from memory. It reads all at once if mem is a
// BatchMemory. It sets the Bytes of a copy to nil if they cannot be read completely.
func ReadBatch(mem cfi.Memory, batch []Copy) {
	if m, ok := mem.(BatchMemory); ok {
		m.ReadBatch(batch)
		return
	}
	for i := range batch {
		if mem.ReadMemory(batch[i].Bytes, batch[i].Address) != nil {
			batch[i].Bytes = nil
		}
	}
}

// ThreadMemory is the memory of a snapshot as one of its threads sees it: the thread's copied
// stack and other copies, the snapshot's copies, and otherwise Snapshot.Memory. The copies
// match the registers. ThreadMemory implements cfi.Memory. It is not safe for concurrent use,
// because it remembers late reads.
type ThreadMemory struct {
	snapshot *Snapshot
	thread   *Thread
	late     uint64
	isLate   bool
	reads    []uint64 // pages of late reads, in order of the first read
	pages    *pages   // nil unless Keep was called
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
	// The range can begin below the copy and reach into it.
	if at := start - addr; at < uint64(len(p)) {
		copy(p[at:], stack)
	}
	return nil
}

// ReadCode implements unwind.CodeMemory. Late does not report such reads of code: a JIT
// compiler's code is writable, and the frames after it do not depend on it.
func (m *ThreadMemory) ReadCode(p []byte, addr uint64) error {
	late, isLate, reads := m.late, m.isLate, len(m.reads)
	err := m.ReadMemory(p, addr)
	m.late, m.isLate, m.reads = late, isLate, m.reads[:reads]
	return err
}

// StackAt implements unwind.StackMemory.
func (m *ThreadMemory) StackAt(addr uint64) (unwind.Stack, bool) {
	for _, copies := range [...][]Copy{m.thread.Copies, m.snapshot.Copies} {
		if c := copyAt(copies, addr); c != nil && !m.thread.Late {
			return unwind.Stack{Address: c.Address, Bytes: c.Bytes}, true
		}
	}
	return unwind.Stack{}, false
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
	if m.snapshot.Live && m.changeable(addr) {
		m.noteLate(addr, len(p))
	}
	return nil
}

// ReadCopies reads memory at addr from one of the snapshot's copies, and returns the
// number of bytes read.
func (s *Snapshot) ReadCopies(p []byte, addr uint64) int { return readCopies(s.Copies, p, addr) }

// maxOverlap is how many copies can begin between an address and the beginning of a copy that
// contains it: copies of stacks overlap those of structures.
const maxOverlap = 4

func readCopies(copies []Copy, p []byte, addr uint64) int {
	if c := copyAt(copies, addr); c != nil {
		return copy(p, c.Bytes[addr-c.Address:])
	}
	return 0
}

// copyAt returns the copy that contains an address, or nil.
func copyAt(copies []Copy, addr uint64) *Copy {
	last := sort.Search(len(copies), func(i int) bool { return copies[i].Address > addr }) - 1
	for i := last; i >= max(0, last-maxOverlap); i-- {
		if addr-copies[i].Address < uint64(len(copies[i].Bytes)) {
			return &copies[i]
		}
	}
	return nil
}

// changeable reports whether the target can have changed addr since it was stopped. Code,
// constants and unwind tables, which are not writable, count as unchanged.
func (m *ThreadMemory) changeable(addr uint64) bool {
	mapping := m.snapshot.Mapping(addr)
	return mapping == nil || mapping.Writable
}

// Late reports whether a read returned writable memory as it was after the target had
// continued to run, and the address of the first such read. Results derived from it may
// not match the registers.
func (m *ThreadMemory) Late() (addr uint64, late bool) { return m.late, m.isLate }

// maxLatePages bounds LatePages.
const maxLatePages = 64

func (m *ThreadMemory) noteLate(addr uint64, n int) {
	if !m.isLate {
		m.late, m.isLate = addr, true
	}
	for page := addr &^ (pageSize - 1); page < addr+uint64(n) && len(m.reads) < maxLatePages; page += pageSize {
		if !slices.Contains(m.reads, page) {
			m.reads = append(m.reads, page)
		}
	}
}

// LatePages returns the addresses of the pages of 4 KiB to which reads were late, at most the
// first 64. The caller must not change the slice.
func (m *ThreadMemory) LatePages() []uint64 { return m.reads }

// ForgetLate makes Late report only later reads.
func (m *ThreadMemory) ForgetLate() { m.late, m.isLate = 0, false }

const (
	pageSize = 4096 // the least of any machine
	maxPages = 256
)

// pages caches pages of a target's memory. Reading a value with many parts then needs few
// system calls, and the parts are from the same time.
type pages struct {
	known map[uint64]*[pageSize]byte // by address
}

// read reads memory by whole pages, except where a page cannot be read completely.
func (c *pages) read(memory cfi.Memory, p []byte, addr uint64) error {
	for len(p) > 0 {
		at := addr % pageSize
		page := c.page(memory, addr-at)
		if page == nil {
			return memory.ReadMemory(p, addr)
		}
		n := copy(p, page[at:])
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// page returns a page, nil if it cannot be read completely.
func (c *pages) page(memory cfi.Memory, addr uint64) *[pageSize]byte {
	page, ok := c.known[addr]
	if ok {
		return page
	}
	page = new([pageSize]byte)
	if memory.ReadMemory(page[:], addr) != nil {
		page = nil
	}
	if c.known == nil || len(c.known) == maxPages {
		c.known = make(map[uint64]*[pageSize]byte)
	}
	c.known[addr] = page
	return page
}
