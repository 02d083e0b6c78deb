// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import "github.com/clewdev/clew/cfi"

// blocks reads memory in blocks, each once. Entries and small symbol files are close
// together, and for a list of thousands most of the time would be spent in system
// calls. It returns the contents as of the first read.
type blocks struct {
	memory cfi.Memory
	held   map[uint64][]byte // by address; nil for a block that is only partly readable
}

const (
	blockSize = 1 << 14
	maxBlocks = 1 << 10 // kept blocks: 16 MiB
)

func newBlocks(memory cfi.Memory) *blocks {
	return &blocks{memory: memory, held: make(map[uint64][]byte)}
}

// ReadMemory implements cfi.Memory.
func (b *blocks) ReadMemory(p []byte, address uint64) error {
	if len(p) >= blockSize {
		return b.memory.ReadMemory(p, address)
	}
	for len(p) > 0 {
		start := address &^ (blockSize - 1)
		at := address - start
		n := min(uint64(len(p)), blockSize-at)
		block, ok := b.held[start]
		if !ok {
			if len(b.held) >= maxBlocks {
				clear(b.held)
			}
			block = make([]byte, blockSize)
			if b.memory.ReadMemory(block, start) != nil {
				block = nil
			}
			b.held[start] = block
		}
		if block == nil {
			// A part of the block is not mapped.
			if err := b.memory.ReadMemory(p[:n], address); err != nil {
				return err
			}
		} else {
			copy(p, block[at:])
		}
		p, address = p[n:], address+n
	}
	return nil
}
