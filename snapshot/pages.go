// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import "github.com/clewdev/clew/cfi"

const (
	pageSize = 4096 // the least of any machine
	maxPages = 256
)

// pages are pages of a target's memory as they were when they were first read: a value of
// many parts takes few calls of the kernel then, and its parts are of one moment.
type pages struct {
	known map[uint64]*[pageSize]byte // by address
}

// read reads what memory has, by the page where all of it can be read.
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

// page returns a page, nil where it cannot be read.
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
