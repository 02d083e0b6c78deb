// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"fmt"
	"slices"
)

// arena is memory outside of the Go heap: entries and symbol files never move, and
// the garbage collector does not scan them. A large block has its own mapping;
// small blocks share chunks. An arena is not safe for concurrent use.
type arena struct {
	chunks []*chunk
	recent *chunk // the chunk that was used last
	mapped int    // bytes
}

const (
	chunkSize = 64 << 10
	largeSize = 16 << 10 // blocks of this size and more have their own mapping
	grain     = 32       // sizes and alignments of blocks are multiples of it
)

// chunk is a mapping that blocks are cut from.
type chunk struct {
	memory []byte
	free   []span // by ascending offset, no two of them adjacent
	limit  int    // no free span is larger
}

// span is a range of offsets in a chunk.
type span struct{ start, end int }

func (s span) size() int { return s.end - s.start }

// alloc returns n bytes with undefined contents. Errors wrap ErrMemory.
func (a *arena) alloc(n int) ([]byte, error) {
	if n >= largeSize {
		memory, err := mapMemory(n)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMemory, err)
		}
		a.mapped += cap(memory)
		return memory, nil
	}
	size := (n + grain - 1) &^ (grain - 1)
	if a.recent != nil {
		if b := a.recent.alloc(size); b != nil {
			return b[:n], nil
		}
	}
	for _, c := range a.chunks {
		if b := c.alloc(size); b != nil {
			a.recent = c
			return b[:n], nil
		}
	}
	memory, err := mapMemory(chunkSize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMemory, err)
	}
	a.mapped += cap(memory)
	c := &chunk{memory: memory, free: []span{{0, chunkSize}}, limit: chunkSize}
	a.chunks = append(a.chunks, c)
	a.recent = c
	return c.alloc(size)[:n], nil
}

// alloc returns size bytes, a multiple of grain, or nil if no span is large enough.
func (c *chunk) alloc(size int) []byte {
	if size > c.limit {
		return nil
	}
	largest := 0
	for i := range c.free {
		s := &c.free[i]
		if s.size() < size {
			largest = max(largest, s.size())
			continue
		}
		b := c.memory[s.start : s.start+size : s.start+size]
		if s.start += size; s.start == s.end {
			c.free = slices.Delete(c.free, i, i+1)
		}
		return b
	}
	c.limit = largest
	return nil
}

// release frees what alloc returned. One chunk stays mapped when it is empty, so that
// publishing and withdrawing a single function repeatedly needs no system call.
func (a *arena) release(b []byte) {
	if len(b) >= largeSize {
		a.mapped -= cap(b)
		unmapMemory(b)
		return
	}
	for i, c := range a.chunks {
		at, ok := c.offset(b)
		if !ok {
			continue
		}
		c.release(span{at, at + cap(b)})
		if c.free[0].size() == chunkSize && len(a.chunks) > 1 {
			a.mapped -= cap(c.memory)
			unmapMemory(c.memory)
			a.chunks = slices.Delete(a.chunks, i, i+1)
			a.recent = nil
		}
		return
	}
	panic("gdb: release of memory from another arena")
}

// trim unmaps the empty chunk that release keeps.
func (a *arena) trim() {
	if len(a.chunks) != 1 || len(a.chunks[0].free) == 0 || a.chunks[0].free[0].size() != chunkSize {
		return
	}
	a.mapped -= chunkSize
	unmapMemory(a.chunks[0].memory)
	a.chunks, a.recent = a.chunks[:0], nil
}

// offset returns the offset of b in the chunk.
func (c *chunk) offset(b []byte) (int, bool) {
	at := address(b) - address(c.memory)
	return int(at), at < uintptr(len(c.memory))
}

func (c *chunk) release(s span) {
	i, _ := slices.BinarySearchFunc(c.free, s.start, func(f span, start int) int { return f.start - start })
	if i < len(c.free) && c.free[i].start == s.end {
		s.end = c.free[i].end
		c.free = slices.Delete(c.free, i, i+1)
	}
	if i > 0 && c.free[i-1].end == s.start {
		c.free[i-1].end = s.end
		s = c.free[i-1]
	} else {
		c.free = slices.Insert(c.free, i, s)
	}
	c.limit = max(c.limit, s.size())
}
