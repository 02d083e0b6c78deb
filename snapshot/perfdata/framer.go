// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/clewdev/clew/internal/filemap"
)

const (
	// headerSize is the size of perf_event_header, the start of each record: u32 type,
	// u16 misc, u16 size of the whole record.
	headerSize = 8
	// maxRecord is larger than any record.
	maxRecord = 1 << 16
)

// errNeedInput says that a decompressor has no more output for its input.
var errNeedInput = errors.New("more input is needed")

// framer cuts a stream of bytes into records.
type framer struct {
	pool *pool
	big  bool
	read func([]byte) (int, error)       // as source.read
	view func(back int) *filemap.Mapping // as source.view

	chunk *chunk
	pos   int   // in chunk.buf, of the next record
	last  int   // in chunk.buf, of the record that was returned last
	at    int64 // in the stream, of that record
	base  int64 // of chunk.buf[0] in the stream

	// wrapped is the number of following bytes that the size of a COMPRESSED2 record should
	// have counted; see sizeCompressed2.
	wrapped int64
	// inWrapped says that the last record is in these bytes.
	inWrapped bool
}

// offset returns the offset of the next record in the stream.
func (f *framer) offset() int64 { return f.base + int64(f.pos) }

// next returns the next record, which is then in f.chunk. It has at least
// headerSize bytes. The error is io.EOF only between two records.
func (f *framer) next() ([]byte, error) {
	if err := f.need(headerSize); err != nil {
		return nil, err
	}
	head := f.chunk.buf[f.pos:]
	size, t := f.size(head), Type(f.u32(head))
	f.inWrapped = f.wrapped > 0
	if t == TypeCompressed2 {
		var err error
		if size, err = f.sizeCompressed2(size); err != nil {
			return nil, err
		}
	}
	if size < headerSize {
		return nil, fmt.Errorf("record at %#x (type %v): its size is %d, which must be at least %d", f.offset(), t, size, headerSize)
	}
	if err := f.need(size); err != nil {
		return nil, err
	}
	f.last, f.at = f.pos, f.offset()
	f.pos += size
	f.wrapped = max(0, f.wrapped-int64(size))
	return f.chunk.buf[f.last:f.pos:f.pos], nil
}

// maxCompressed2 is the number of bytes that perf writes to a COMPRESSED2 record at most,
// after its header and the u64 data_size.
const maxCompressed2 = maxRecord - 1 - compressed2Header

const compressed2Header = headerSize + 8

// sizeCompressed2 returns the size of the next record, a COMPRESSED2 record.
//
// The size should be that of header and data, rounded up to 8. In record__pushfn of
// tools/perf/builtin-record.c (Linux 6.16) the sum does not fit its 16 bits if there are
// more than 65,512 bytes of data. The size is then too small by 65,536 or a multiple of
// it, and not rounded up. If the data is larger than a record, the first record is full
// and its data_size is that of all records together. The following records have a correct
// size and no data_size.
func (f *framer) sizeCompressed2(size int) (int, error) {
	if f.wrapped > 0 || size > 0 && size < compressed2Header {
		return size, nil
	}
	if err := f.need(compressed2Header); err != nil {
		return 0, err
	}
	c := cursor{b: f.chunk.buf[f.pos+headerSize : f.pos+compressed2Header], big: f.big}
	data := c.u64()
	if data <= uint64(size)-compressed2Header && size > 0 {
		return size, nil
	}
	size = compressed2Header + int(min(data, maxCompressed2))
	f.wrapped = int64(min(data, math.MaxInt32)) + compressed2Header
	return size, nil
}

func (f *framer) u32(b []byte) uint32 {
	if f.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// size returns the size of a record according to its header.
func (f *framer) size(record []byte) int {
	b := record[6:]
	if f.big {
		return int(binary.BigEndian.Uint16(b))
	}
	return int(binary.LittleEndian.Uint16(b))
}

// need reads until n bytes follow f.pos in the chunk, at most maxRecord.
func (f *framer) need(n int) error {
	if f.chunk == nil || f.pos+n > len(f.chunk.buf) {
		f.turn()
	}
	for c := f.chunk; c.filled-f.pos < n; {
		k, err := f.read(c.buf[c.filled:])
		c.filled += k
		if err != nil {
			if have := c.filled - f.pos; err == io.EOF && have > 0 {
				return fmt.Errorf("record at %#x: %d bytes of it, at least %d expected: %w", f.offset(), have, n, io.ErrUnexpectedEOF)
			}
			return err
		}
	}
	return nil
}

// turn starts a new chunk with the bytes of the next record that were read. Records that
// wait stay in the previous chunk.
func (f *framer) turn() {
	c, back := f.chunk, f.partial()
	f.chunk = f.pool.take(f.view(back))
	if c == nil {
		return
	}
	if f.chunk.view == nil {
		f.chunk.filled = copy(f.chunk.buf, c.buf[f.pos:c.filled])
	}
	f.pool.release(c)
	f.base += int64(f.pos)
	f.pos = 0
}

// skip skips n bytes after the last record. It returns how many of them are not in the
// chunk: the caller must skip these in the stream.
func (f *framer) skip(n int64) (rest int64) {
	k := min(n, int64(f.chunk.filled-f.pos))
	f.pos += int(k)
	f.base += n - k
	return n - k
}

// partial returns how many bytes of an incomplete record there are.
func (f *framer) partial() int {
	if f.chunk == nil {
		return 0
	}
	return f.chunk.filled - f.pos
}

// drop discards bytes of the stream that were read and not returned.
func (f *framer) drop() {
	if f.chunk != nil {
		f.base += int64(f.chunk.filled)
		f.pool.release(f.chunk)
		f.chunk, f.pos = nil, 0
	}
}

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
