// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"

	"github.com/clewdev/clew/cfi"
)

// BatchMemory is memory that reads many places with fewer calls of the kernel than
// there are places.
type BatchMemory interface {
	cfi.Memory

	// ReadBatch fills the bytes of copies; where one cannot be read to its end it
	// sets them to nil.
	ReadBatch([]Copy)
}

// ReadBatch fills the bytes of copies from memory, in one go where that can; those
// that cannot be read to their end are set to nil.
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

// batchSize is how many places are read in one go, which is no more than one call of
// the kernel takes (UIO_MAXIOV).
const batchSize = 1024

// Batch reads the structures of many goroutines at once. It is not safe for concurrent
// use.
type Batch struct {
	runtime *Runtime
	memory  cfi.Memory
	room    []byte
	copies  []Copy
}

// Batch returns what reads goroutines from memory.
func (r *Runtime) Batch(mem cfi.Memory) *Batch { return &Batch{runtime: r, memory: mem} }

// Read reads the goroutines at addresses that List has returned, and calls each for
// every one of them, by its place in the list, with what Runtime.Read returns.
func (b *Batch) Read(list []uint64, each func(i int, g Goroutine, err error)) {
	size := b.runtime.Layout.size()
	if n := min(len(list), batchSize) * size; len(b.room) < n {
		b.room = make([]byte, n)
	}
	for from := 0; from < len(list); from += batchSize {
		b.copies = b.copies[:0]
		for i, at := range list[from:min(from+batchSize, len(list))] {
			b.copies = append(b.copies, Copy{at, b.room[i*size:][:size:size]})
		}
		ReadBatch(b.memory, b.copies)
		for i, c := range b.copies {
			var g Goroutine
			var err error
			if c.Bytes != nil {
				g, err = b.runtime.Layout.decode(c.Bytes, c.Address)
			} else {
				g, err = b.runtime.Read(b.memory, c.Address) // which says why
			}
			each(from+i, g, err)
		}
	}
}

// words reads a word at an offset from each address of a list, and yields those that
// can be read, as far as it is asked to.
func words(mem cfi.Memory, list []uint64, offset uint64) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		room := make([]byte, min(len(list), batchSize)*pointerSize)
		var batch []Copy
		for len(list) > 0 {
			n := min(len(list), batchSize)
			batch = batch[:0]
			for i, at := range list[:n] {
				batch = append(batch, Copy{at + offset, room[i*pointerSize:][:pointerSize:pointerSize]})
			}
			ReadBatch(mem, batch)
			for i := range batch {
				if batch[i].Bytes != nil && !yield(binary.LittleEndian.Uint64(batch[i].Bytes)) {
					return
				}
			}
			list = list[n:]
		}
	}
}
