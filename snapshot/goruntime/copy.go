// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
)

// Copier copies the memory that describes a runtime's goroutines while their process is
// stopped. It reads the known places in rounds of one system call each.
type Copier struct {
	runtime *Runtime
	all     bool
	threads []Thread

	list    []snapshot.Copy // the address of the list, and its length
	current []snapshot.Copy // the goroutines that threads run
	stacks  [][2]uint64     // allocated by the runtime, by ascending address

	seen   map[uint64]bool
	copies []snapshot.Copy
	buffer []byte // copies are taken from it
	left   int    // bytes of stacks that may still be copied
}

// Limits of the copies.
const (
	maxCopiedList   = 1 << 16  // goroutines
	maxCopiedStack  = 64 << 10 // bytes of a goroutine that runs on a thread
	maxWaitingStack = 8 << 10  // bytes of a goroutine that does not
	maxCopiedStacks = 4 << 20
	copyChunk       = 64  // goroutines in a round
	redZone         = 128 // bytes below a stack pointer

	// copiesExpected is the approximate number of copies that the time allows.
	copiesExpected = 2048

	// copyCapacity is enough for the structures and stacks of some thousand goroutines.
	copyCapacity = maxCopiedStacks + 2<<20

	// These are the parts of the buffer that are touched before the process is stopped, so
	// that page faults do not lengthen the pause: as much as is copied in a millisecond, or
	// for each thread as much as most threads need.
	touchedBytes  = 2 << 20
	touchedThread = 8 << 10
)

// Copier returns a Copier, which reads known places before the process is stopped. all
// says whether it will copy all goroutines.
func (r *Runtime) Copier(mem cfi.Memory, all bool) *Copier { return r.copier(mem, all, copyCapacity) }

func (r *Runtime) copier(mem cfi.Memory, all bool, capacity int) *Copier {
	c := &Copier{runtime: r, all: all, seen: make(map[uint64]bool, copiesExpected), left: maxCopiedStacks,
		copies: make([]snapshot.Copy, 0, copiesExpected), buffer: make([]byte, capacity)}
	var list []uint64
	if r.threads == 0 {
		list, _ = r.List(mem)
		list = list[:min(len(list), maxCopiedList)]
	}
	c.threads = r.Threads(mem, list)
	touched := touchedBytes
	if !all {
		touched = len(c.threads) * touchedThread
	}
	touch(c.buffer[:min(touched, capacity)])
	return c
}

// touch makes the pages of a buffer present: a page fault would lengthen a pause.
func touch(buffer []byte) {
	for i := 0; i < len(buffer); i += 4096 {
		buffer[i] = 0
	}
}

// CopyThreads copies the runtime's data of threads, and the structures of the goroutines
// that they run. Read fills the bytes of copies, and sets those that cannot be read to
// nil.
func (c *Copier) CopyThreads(read func([]snapshot.Copy)) {
	l := c.runtime.Layout
	round := c.begin(nil, c.runtime.list, pointerSize)
	round = c.begin(round, c.runtime.length, pointerSize)
	variables := len(round)
	for i := range c.threads {
		round = c.begin(round, c.threads[i].Address, l.threadSize())
	}
	end := len(round)
	for i := range c.threads {
		round = c.begin(round, c.threads[i].System, l.size())
		round = c.begin(round, c.threads[i].Signal, l.size())
	}
	read(round)
	c.keep(round)
	c.list = round[:variables]
	for _, m := range round[variables:end] {
		if m.Bytes != nil {
			c.current = c.begin(c.current, l.decodeThread(m.Bytes, 0).Current, l.size())
		}
	}
	read(c.current)
	c.keep(c.current)
	for _, g := range slices.Concat(round[end:], c.current) {
		if g.Bytes == nil {
			continue
		}
		if g, err := l.decode(g.Bytes, g.Address); err == nil && allocated(&g) {
			c.stacks = append(c.stacks, [2]uint64{g.StackLow, g.StackHigh})
		}
	}
	slices.SortFunc(c.stacks, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
}

// allocated reports whether the runtime allocated a goroutine's stack: the size of those is a
// power of two (runtime/stack.go, stackalloc). The runtime knows only the part that it needs itself
// of a stack that C code allocated.
func allocated(g *Goroutine) bool { return bits.OnesCount64(g.StackHigh-g.StackLow) == 1 }

// StackEnd returns the end of the stack that contains an address, after CopyThreads. It
// reports whether that is a stack which the runtime allocated for its threads or the
// goroutines that they run.
func (c *Copier) StackEnd(address uint64) (end uint64, ok bool) {
	i := sort.Search(len(c.stacks), func(i int) bool { return c.stacks[i][0] > address }) - 1
	if i < 0 || address >= c.stacks[i][1] {
		return 0, false
	}
	return c.stacks[i][1], true
}

// Copy copies the stacks of the goroutines that threads run. A Copier of all goroutines also
// copies their list, and the other goroutines with their stacks, in rounds: it calls more
// before each round, and stops when more returns false. Copy returns these copies and those
// of CopyThreads, which must be called before.
func (c *Copier) Copy(read func([]snapshot.Copy), more func() bool) []snapshot.Copy {
	c.copyStacks(read, c.current, maxCopiedStack)
	if !c.all {
		return c.copies
	}
	start, n, err := c.runtime.extent(copied(c.list))
	if err != nil || n > maxCopiedList {
		return c.copies
	}
	names := c.begin(nil, start, int(n)*pointerSize)
	read(names)
	c.keep(names)
	var list []byte
	if len(names) > 0 {
		list = names[0].Bytes
	}
	var round []snapshot.Copy
	for len(list) >= pointerSize && more() {
		round = round[:0]
		for len(list) >= pointerSize && len(round) < copyChunk {
			round = c.begin(round, binary.LittleEndian.Uint64(list), c.runtime.Layout.size())
			list = list[pointerSize:]
		}
		read(round)
		c.keep(round)
		c.copyStacks(read, round, maxWaitingStack)
	}
	return c.copies
}

// copyStacks copies the given amount of the stacks of goroutines.
func (c *Copier) copyStacks(read func([]snapshot.Copy), goroutines []snapshot.Copy, most uint64) {
	l := c.runtime.Layout
	var stacks []snapshot.Copy
	for _, copied := range goroutines {
		if copied.Bytes == nil {
			continue
		}
		g, err := l.decode(copied.Bytes, copied.Address)
		if err != nil || g.State == Dead || g.State == Idle {
			continue
		}
		low, n := g.left(most)
		if c.left -= n; c.left < 0 {
			break
		}
		stacks = c.begin(stacks, low, n)
	}
	read(stacks)
	c.keep(stacks)
}

// left returns the start of a goroutine's stack, below its innermost frame, and the number
// of bytes to copy; 0 if unknown.
func (g *Goroutine) left(most uint64) (low uint64, n int) {
	low = g.Sched.SP
	if g.Syscall.SP != 0 {
		low = min(low, g.Syscall.SP)
	}
	if low < g.StackLow || low > g.StackHigh {
		return 0, 0
	}
	low = max(g.StackLow, low-min(low, redZone))
	return low, int(min(g.StackHigh-low, most))
}

// begin adds a copy to a round, unless it was made before or the buffer is full.
func (c *Copier) begin(round []snapshot.Copy, address uint64, size int) []snapshot.Copy {
	if address == 0 || size <= 0 || size > len(c.buffer) || c.seen[address] {
		return round
	}
	c.seen[address] = true
	round = append(round, snapshot.Copy{Address: address, Bytes: c.buffer[:size:size]})
	c.buffer = c.buffer[size:]
	return round
}

func (c *Copier) keep(round []snapshot.Copy) {
	for _, r := range round {
		if r.Bytes != nil {
			c.copies = append(c.copies, r)
		}
	}
}

// copied is memory that consists of copies only.
type copied []snapshot.Copy

func (c copied) ReadMemory(p []byte, addr uint64) error {
	for i := range c {
		if at := addr - c[i].Address; at < uint64(len(c[i].Bytes)) && copy(p, c[i].Bytes[at:]) == len(p) {
			return nil
		}
	}
	return errNoGoroutine
}
