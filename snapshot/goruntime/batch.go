// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
)

// batchSize is the number of places that one system call reads, at most the kernel's
// limit (UIO_MAXIOV).
const batchSize = 1024

// Batch reads the structures of many goroutines at once. It is not safe for concurrent
// use.
type Batch struct {
	runtime *Runtime
	memory  cfi.Memory
	buffer  []byte
	copies  []snapshot.Copy
}

// Batch returns a reader of many goroutines from memory.
func (r *Runtime) Batch(mem cfi.Memory) *Batch { return &Batch{runtime: r, memory: mem} }

// Read reads the goroutines at addresses from List. It calls each for every one, with its
// index in the list and the results of Runtime.Read.
func (b *Batch) Read(list []uint64, each func(i int, g Goroutine, err error)) {
	size := b.runtime.Layout.size()
	if n := min(len(list), batchSize) * size; len(b.buffer) < n {
		b.buffer = make([]byte, n)
	}
	for from := 0; from < len(list); from += batchSize {
		b.copies = b.copies[:0]
		for i, at := range list[from:min(from+batchSize, len(list))] {
			b.copies = append(b.copies, snapshot.Copy{Address: at, Bytes: b.buffer[i*size:][:size:size]})
		}
		snapshot.ReadBatch(b.memory, b.copies)
		for i, c := range b.copies {
			var g Goroutine
			var err error
			if c.Bytes != nil {
				g, err = b.runtime.Layout.decode(c.Bytes, c.Address)
			} else {
				g, err = b.runtime.Read(b.memory, c.Address) // returns the error
			}
			each(from+i, g, err)
		}
	}
}

// words reads a word at an offset from each address of a list, and yields the readable
// ones.
func words(mem cfi.Memory, list []uint64, offset uint64) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		buffer := make([]byte, min(len(list), batchSize)*pointerSize)
		var batch []snapshot.Copy
		for len(list) > 0 {
			n := min(len(list), batchSize)
			batch = batch[:0]
			for i, at := range list[:n] {
				batch = append(batch, snapshot.Copy{Address: at + offset, Bytes: buffer[i*pointerSize:][:pointerSize:pointerSize]})
			}
			snapshot.ReadBatch(mem, batch)
			for i := range batch {
				if batch[i].Bytes != nil && !yield(binary.LittleEndian.Uint64(batch[i].Bytes)) {
					return
				}
			}
			list = list[n:]
		}
	}
}
