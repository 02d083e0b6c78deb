// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"slices"
	"sync"
	"unsafe"
)

// heap is the memory that libunwind reads: tables and regions, which are freed, and
// infos, which never are.
//
// libunwind searches without a lock. A search that is at an info while it is withdrawn
// continues with the contents of its memory. As long as that is an info, the search at
// worst reaches the end of the list.
var heap struct {
	sync.Mutex
	chunks []*chunk
	infos  [][]byte // free ones
}

// chunk is memory from which blocks are allocated in order. It is freed when the last
// block is.
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

// within reports whether two addresses are so close that offsets from near one to
// near the other fit 32 bits.
func within(a, b uint64) bool { return a-b < 1<<30 || b-a < 1<<30 }

// newBlock returns n bytes, if possible near an address.
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
	// Try only the newest chunks: the others have little free memory.
	if len(heap.chunks) == 4 {
		heap.chunks = slices.Delete(heap.chunks, 0, 1)
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

// release frees a block.
func (b *block) release() {
	heap.Lock()
	defer heap.Unlock()
	c := b.of
	if c.blocks--; c.blocks > 0 {
		return
	}
	heap.chunks = slices.DeleteFunc(heap.chunks, func(known *chunk) bool { return known == c })
	unmapMemory(c.memory)
}

// newInfo returns memory for an info. It still has its previous contents.
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
