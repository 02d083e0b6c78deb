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
	// headerSize is the size of perf_event_header, with which each record begins:
	// u32 type, u16 misc, u16 size of the whole record.
	headerSize = 8
	// maxRecord is above the size of any record.
	maxRecord = 1 << 16
)

// errNeedInput says that a decompressor has no more output for what it was given.
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

	// wrapped is how many bytes follow that the size of a COMPRESSED2 record should
	// have counted; see sizeCompressed2.
	wrapped int64
	// inWrapped says that the last record was among those bytes.
	inWrapped bool
}

// offset returns where the next record begins in the stream.
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

// maxCompressed2 is the most that perf puts in a COMPRESSED2 record, behind its
// header and the u64 data_size.
const maxCompressed2 = maxRecord - 1 - compressed2Header

const compressed2Header = headerSize + 8

// sizeCompressed2 returns the size of the COMPRESSED2 record that comes next.
//
// perf means size to be that of header and data, rounded up to 8. In
// record__pushfn of tools/perf/builtin-record.c (Linux 6.16) the sum does not fit
// its 16 bits where there are more than 65,512 bytes of data. Then size is too
// small by 65,536 or a multiple of it, and nothing is rounded up. If the data is
// more than one record holds, the first record is full and its data_size is that
// of all of them together; those that follow have a right size, and nothing in
// data_size.
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

// size returns the size that a record has by its header.
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

// turn begins another chunk with what there is of the next record. Records that
// wait in the one before stay where they are.
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

// skip passes over n bytes behind the last record. It returns how many of them
// are not in the chunk: they are to be passed over in the stream.
func (f *framer) skip(n int64) (rest int64) {
	k := min(n, int64(f.chunk.filled-f.pos))
	f.pos += int(k)
	f.base += n - k
	return n - k
}

// partial returns how many bytes there are of a record that is not whole.
func (f *framer) partial() int {
	if f.chunk == nil {
		return 0
	}
	return f.chunk.filled - f.pos
}

// drop forgets what was read of the stream and not returned.
func (f *framer) drop() {
	if f.chunk != nil {
		f.base += int64(f.chunk.filled)
		f.pool.release(f.chunk)
		f.chunk, f.pos = nil, 0
	}
}
