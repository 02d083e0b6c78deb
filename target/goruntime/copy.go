// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"

	"github.com/clewdev/clew/cfi"
)

// Copy is a part of a target's memory as it was at one moment.
type Copy struct {
	Address uint64
	Bytes   []byte
}

// Copier copies what tells of a runtime's goroutines while their process stands still.
// It reads rounds of places that it knows of, each round in one call, as each call of
// the kernel takes a while.
type Copier struct {
	runtime *Runtime
	threads []Thread

	seen   map[uint64]bool
	copies []Copy
	room   []byte // that copies are taken from
	stacks int    // bytes of stacks that may still be copied
}

// What is copied at most.
const (
	maxCopiedList   = 1 << 16  // goroutines
	maxCopiedStack  = 64 << 10 // bytes of one that a thread runs
	maxWaitingStack = 8 << 10  // bytes of one that none does
	maxCopiedStacks = 4 << 20
	copyChunk       = 256 // goroutines in a round
	redZone         = 128 // bytes below a stack pointer

	// copyRoom is for the structures of some thousand goroutines and their stacks.
	copyRoom = maxCopiedStacks + 2<<20
)

// Copier returns a Copier, which knows what there is before the process stands still.
func (r *Runtime) Copier(mem cfi.Memory) *Copier { return r.copier(mem, copyRoom) }

func (r *Runtime) copier(mem cfi.Memory, room int) *Copier {
	c := &Copier{runtime: r, seen: make(map[uint64]bool), stacks: maxCopiedStacks, room: make([]byte, room)}
	for i := 0; i < len(c.room); i += 4096 {
		c.room[i] = 0 // so that no page fault lengthens the pause
	}
	var list []uint64
	if r.threads == 0 {
		list, _ = r.List(mem)
		list = list[:min(len(list), maxCopiedList)]
	}
	c.threads = r.Threads(mem, list)
	return c
}

// Copy copies the list of goroutines, those that threads run with their stacks, and
// where all is set as many of the others as more allows, which is asked again and
// again. Read fills the bytes of copies; where one cannot be read it sets them to nil.
func (c *Copier) Copy(read func([]Copy), all bool, more func() bool) []Copy {
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
	threads := round[variables:end]
	read(round)
	c.keep(round)
	var current []uint64
	for i := range threads {
		if threads[i].Bytes != nil {
			current = append(current, l.decodeThread(threads[i].Bytes, 0).Current)
		}
	}
	var list []uint64
	if all {
		if start, n, err := c.runtime.extent(copied(round[:variables])); err == nil && n <= maxCopiedList {
			names := c.begin(nil, start, int(n)*pointerSize)
			read(names)
			c.keep(names)
			for i := range names {
				for b := names[i].Bytes; len(b) >= pointerSize; b = b[pointerSize:] {
					list = append(list, binary.LittleEndian.Uint64(b))
				}
			}
		}
	}
	c.goroutines(read, current, maxCopiedStack)
	for len(list) > 0 && more() {
		n := min(len(list), copyChunk)
		c.goroutines(read, list[:n], maxWaitingStack)
		list = list[n:]
	}
	return c.copies
}

// goroutines copies the structures of goroutines, and of each as much of its stack as
// is asked for.
func (c *Copier) goroutines(read func([]Copy), list []uint64, most uint64) {
	l := c.runtime.Layout
	var round, stacks []Copy
	for _, at := range list {
		round = c.begin(round, at, l.size())
	}
	read(round)
	c.keep(round)
	for i := range round {
		if round[i].Bytes == nil {
			continue
		}
		g, err := l.decode(round[i].Bytes, round[i].Address)
		if err != nil || g.State == Dead || g.State == Idle {
			continue
		}
		low := g.Sched.SP
		if g.Syscall.SP != 0 {
			low = min(low, g.Syscall.SP)
		}
		if low < g.StackLow || low > g.StackHigh {
			continue
		}
		low = max(g.StackLow, low-min(low, redZone))
		n := int(min(g.StackHigh-low, most))
		if c.stacks -= n; c.stacks < 0 {
			break
		}
		stacks = c.begin(stacks, low, n)
	}
	read(stacks)
	c.keep(stacks)
}

// begin appends a copy to be made to a round, unless it was made or there is no room.
func (c *Copier) begin(round []Copy, address uint64, size int) []Copy {
	if address == 0 || size <= 0 || size > len(c.room) || c.seen[address] {
		return round
	}
	c.seen[address] = true
	round = append(round, Copy{address, c.room[:size:size]})
	c.room = c.room[size:]
	return round
}

func (c *Copier) keep(round []Copy) {
	for _, r := range round {
		if r.Bytes != nil {
			c.copies = append(c.copies, r)
		}
	}
}

// copied is memory of which there are copies only.
type copied []Copy

func (c copied) ReadMemory(p []byte, addr uint64) error {
	for i := range c {
		if at := addr - c[i].Address; at < uint64(len(c[i].Bytes)) && copy(p, c[i].Bytes[at:]) == len(p) {
			return nil
		}
	}
	return errNoGoroutine
}
