// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"sync"
	"unsafe"
)

// heap is the memory that libunwind reads: tables and regions, which are given
// back, and infos, which never are.
//
// libunwind's search takes no lock. A thread that is at an info when it is
// cancelled goes on with what lies there: as long as that is an info, it finds
// the end of the list at worst.
var heap struct {
	sync.Mutex
	chunks []*chunk
	infos  [][]byte // free ones
}

// chunk is memory that blocks are cut from, one after the other. It is given
// back when none is left.
type chunk struct {
	memory []byte
	used   int
	blocks int
}

const chunkSize = 64 << 10

// block is a piece of a chunk. Its memory is aligned to 16 bytes and zero.
type block struct {
	memory []byte
	of     *chunk
}

func (b *block) address() uint64 { return address(b.memory) }

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// within reports whether two addresses are so close that offsets from one to
// around the other fit 32 bits.
func within(a, b uint64) bool { return a-b < 1<<30 || b-a < 1<<30 }

// newBlock returns n bytes, near an address where possible.
func newBlock(n int, near uint64) (*block, error) {
	n = max((n+15)&^15, 16)
	heap.Lock()
	defer heap.Unlock()
	for _, c := range heap.chunks {
		if len(c.memory)-c.used >= n && within(address(c.memory), near) {
			return c.cut(n), nil
		}
	}
	memory, err := mapMemory(max(chunkSize, (n+chunkSize-1)&^(chunkSize-1)), near)
	if err != nil {
		return nil, err
	}
	c := &chunk{memory: memory}
	// Only the newest are asked: what is left in the others is small.
	if len(heap.chunks) == 4 {
		heap.chunks = append(heap.chunks[:0], heap.chunks[1:]...)
	}
	heap.chunks = append(heap.chunks, c)
	return c.cut(n), nil
}

func (c *chunk) cut(n int) *block {
	b := &block{c.memory[c.used : c.used+n : c.used+n], c}
	c.used += n
	c.blocks++
	return b
}

// release gives a block back.
func (b *block) release() {
	heap.Lock()
	defer heap.Unlock()
	c := b.of
	if c.blocks--; c.blocks > 0 {
		return
	}
	for i, known := range heap.chunks {
		if known == c {
			heap.chunks = append(heap.chunks[:i], heap.chunks[i+1:]...)
			break
		}
	}
	unmapMemory(c.memory)
}

// newInfo returns the memory of an info. What it held before is still in it.
func newInfo() ([]byte, error) {
	const size, slab = 96, 42 * 96
	heap.Lock()
	defer heap.Unlock()
	if len(heap.infos) == 0 {
		memory, err := mapMemory(4096, 0)
		if err != nil {
			return nil, err
		}
		for at := 0; at < slab; at += size {
			heap.infos = append(heap.infos, memory[at:at+size:at+size])
		}
	}
	n := len(heap.infos) - 1
	b := heap.infos[n]
	heap.infos = heap.infos[:n]
	return b, nil
}

func releaseInfo(b []byte) {
	heap.Lock()
	defer heap.Unlock()
	heap.infos = append(heap.infos, b)
}
