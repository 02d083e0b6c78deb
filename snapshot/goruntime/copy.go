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

// Copier copies the memory that describes a runtime's goroutines while their process
// stands still. It reads the known places in rounds, each round in one call, to make
// few calls of the kernel.
type Copier struct {
	runtime *Runtime
	all     bool
	threads []Thread

	list    []snapshot.Copy // where the list is, and its length
	current []snapshot.Copy // the goroutines that threads run
	stacks  [][2]uint64     // that the runtime has allocated, by ascending address

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

	// copiesExpected is about how many are made in the time that there is.
	copiesExpected = 2048

	// copyRoom is for the structures of some thousand goroutines and their stacks.
	copyRoom = maxCopiedStacks + 2<<20

	// The part of the buffer that is touched before the process stands still, so that
	// no page fault lengthens the pause: as much as is copied in a millisecond, or for
	// each thread as much as most threads need.
	touchedBytes  = 2 << 20
	touchedThread = 8 << 10
)

// Copier returns a Copier, which knows what there is before the process stands still.
// All says whether it will copy all goroutines.
func (r *Runtime) Copier(mem cfi.Memory, all bool) *Copier { return r.copier(mem, all, copyRoom) }

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
	for i := 0; i < min(touched, capacity); i += 4096 {
		c.buffer[i] = 0
	}
	return c
}

// CopyThreads copies what the runtime knows of threads, and the structures of the
// goroutines that they run. Read fills the bytes of copies; where one cannot be read it
// sets them to nil.
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
		if g.Bytes != nil {
			c.addStack(g)
		}
	}
	slices.SortFunc(c.stacks, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
}

// addStack notes where the stack of a goroutine is, if the runtime has allocated it.
func (c *Copier) addStack(g snapshot.Copy) {
	if g, err := c.runtime.Layout.decode(g.Bytes, g.Address); err == nil && allocated(&g) {
		c.stacks = append(c.stacks, [2]uint64{g.StackLow, g.StackHigh})
	}
}

// allocated reports whether the runtime has allocated a goroutine's stack: the size of
// those is a power of two (runtime/stack.go, stackalloc). Of a stack that C code made
// the runtime knows no more than it needs itself, and there is more of it.
func allocated(g *Goroutine) bool { return bits.OnesCount64(g.StackHigh-g.StackLow) == 1 }

// StackEnd returns where the stack ends in which an address is, once CopyThreads was
// called. It reports whether that is one of those that the runtime allocated for its
// threads and the goroutines that they run.
func (c *Copier) StackEnd(address uint64) (end uint64, ok bool) {
	i := sort.Search(len(c.stacks), func(i int) bool { return c.stacks[i][0] > address }) - 1
	if i < 0 || address >= c.stacks[i][1] {
		return 0, false
	}
	return c.stacks[i][1], true
}

// Copy copies the stacks of the goroutines that threads run, and of a Copier of all
// goroutines their list and as many of the others with their stacks as more allows,
// which is asked again and again. It returns these copies and those of CopyThreads,
// which was called before.
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

// copyStacks copies as much of the stacks of goroutines as is asked for.
func (c *Copier) copyStacks(read func([]snapshot.Copy), goroutines []snapshot.Copy, most uint64) {
	l := c.runtime.Layout
	var stacks []snapshot.Copy
	for _, copied := range goroutines {
		if copied.Bytes == nil {
			continue
		}
		g, err := l.decode(copied.Bytes, copied.Address)
		if err != nil {
			continue
		}
		if g.State == Dead || g.State == Idle {
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

// left returns where the stack of a goroutine begins that it has left, below what is the
// innermost frame's, and how many bytes of it are to be copied, 0 where it is not known.
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

// begin appends a copy to a round, unless it was made before or the buffer is full.
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
