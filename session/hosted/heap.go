// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// granule is the alignment of blocks, in bytes, as malloc(3) has it on 64-bit machines.
const granule = 16

// heap allocates the memory of malloc. Its records are not between the blocks, so code
// that writes past the end of a block damages only other blocks.
type heap struct {
	mapping []byte            // with guard pages; nil after close
	start   uint64            // address of the first block
	end     uint64            // address after the memory
	next    uint64            // memory from here to end was never allocated, or was merged with it
	sizes   map[uint64]uint64 // requested sizes of the blocks in use, by address
	free    []block           // by address; adjacent blocks are merged
}

type block struct{ address, size uint64 }

// errFree is the error of free and realloc for an invalid pointer.
var errFree = errors.New("not a pointer that malloc returned, or freed already")

func rounded(size uint64) uint64 {
	return max((size+granule-1)/granule*granule, granule)
}

// allocate returns the address of size bytes, 0 if there is not enough memory.
func (h *heap) allocate(size uint64) uint64 {
	if size > h.end-h.start {
		return 0
	}
	n := rounded(size)
	address := uint64(0)
	for i := range h.free {
		if b := &h.free[i]; b.size >= n {
			address = b.address
			b.address, b.size = b.address+n, b.size-n
			if b.size == 0 {
				h.free = slices.Delete(h.free, i, i+1)
			}
			break
		}
	}
	if address == 0 {
		if n > h.end-h.next {
			return 0
		}
		address = h.next
		h.next += n
	}
	h.sizes[address] = size
	return address
}

func (h *heap) release(address uint64) error {
	size, ok := h.sizes[address]
	if !ok {
		return fmt.Errorf("%#x is %w", address, errFree)
	}
	delete(h.sizes, address)
	b := block{address, rounded(size)}
	i := sort.Search(len(h.free), func(i int) bool { return h.free[i].address > address })
	if i < len(h.free) && h.free[i].address == b.address+b.size {
		b.size += h.free[i].size
		h.free = slices.Delete(h.free, i, i+1)
	}
	if i > 0 && h.free[i-1].address+h.free[i-1].size == b.address {
		i--
		h.free[i].size += b.size
		b = h.free[i]
	} else {
		h.free = slices.Insert(h.free, i, b)
	}
	if b.address+b.size == h.next {
		h.next = b.address
		h.free = slices.Delete(h.free, i, i+1)
	}
	return nil
}

func (l *Library) memoryFunctions() map[string]function {
	// All memory is zeroed, so that code that reads uninitialised memory always reads the
	// same.
	allocate := func(c call, size uint64) (address uint64, err error) {
		address = l.heap.allocate(size)
		if address != 0 {
			err = fill(c, address, 0, size)
		}
		c.Return(address)
		return address, err
	}
	return map[string]function{
		"malloc": func(c call) error {
			_, err := allocate(c, c.Word(0))
			return err
		},
		"calloc": func(c call) error {
			n, size := c.Word(0), c.Word(1)
			if size != 0 && n > ^uint64(0)/size {
				return nil // 0
			}
			_, err := allocate(c, n*size)
			return err
		},
		"realloc": func(c call) error {
			old, size := c.Word(0), c.Word(1)
			oldSize, ok := l.heap.sizes[old]
			if !ok && old != 0 {
				return fmt.Errorf("%#x is %w", old, errFree)
			}
			address, err := allocate(c, size)
			if address == 0 || old == 0 || err != nil {
				return err
			}
			if err := copyBytes(c, address, old, min(oldSize, size)); err != nil {
				return err
			}
			return l.heap.release(old)
		},
		"free": func(c call) error {
			if c.Word(0) == 0 {
				return nil
			}
			return l.heap.release(c.Word(0))
		},
	}
}
