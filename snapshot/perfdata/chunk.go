// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import "github.com/clewdev/clew/internal/filemap"

// chunkSize is the number of bytes that are read at a time if they cannot be mapped.
const chunkSize = 4 * maxRecord

// chunk is a piece of the recording in memory. Records stay in their chunk until they are
// returned. The chunk is used again when it has no records left.
type chunk struct {
	buf     []byte // own, or the bytes of view
	own     []byte // of chunkSize; nil before it is needed
	view    *filemap.Mapping
	index   uint32 // in pool.chunks
	filled  int    // bytes of buf
	pending int    // records that wait, and uses by the framer that fills it and by the record that is returned
}

// pool holds the chunks.
type pool struct {
	chunks []*chunk
	free   []*chunk
	size   int // bytes of the chunks in use
}

// take returns a chunk with the bytes of a mapping, or an empty one.
func (p *pool) take(view *filemap.Mapping) *chunk {
	var c *chunk
	if n := len(p.free); n > 0 {
		c = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		c = &chunk{index: uint32(len(p.chunks))}
		p.chunks = append(p.chunks, c)
	}
	c.view, c.pending = view, 1
	if view != nil {
		c.buf = view.Bytes()
		c.filled = len(c.buf)
	} else {
		if c.own == nil {
			c.own = make([]byte, chunkSize)
		}
		c.buf, c.filled = c.own, 0
	}
	p.size += len(c.buf)
	return c
}

func (p *pool) release(c *chunk) {
	if c.pending--; c.pending == 0 {
		p.size -= len(c.buf)
		c.view.Unmap()
		c.view, c.buf = nil, nil
		p.free = append(p.free, c)
	}
}

// close unmaps all mappings.
func (p *pool) close() {
	for _, c := range p.chunks {
		c.view.Unmap()
	}
	*p = pool{}
}
