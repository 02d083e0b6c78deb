// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/clewdev/clew/internal/filemap"
)

// lane is one stream of records: a recording has one, but those of perf record
// --threads have one for each thread of perf.
type lane struct {
	r     *Reader
	src   source
	outer framer
	inner framer // of decompressed bytes
	queue queue

	decoder  *zstd.Decoder // nil before the first COMPRESSED record
	unpack   *decompressor // nil if there is none, or its input was invalid
	unpacked bool          // inner has no more records for now
	packed   []byte        // the COMPRESSED record that is in inner
	packedAt int64         // its offset

	err error // why no more records can be read; io.EOF at the end
}

func newLane(r *Reader, src source) *lane {
	l := &lane{r: r, src: src, unpacked: true}
	l.outer = framer{pool: &r.pool, big: r.big, base: src.at(), read: func(p []byte) (int, error) {
		n, err := l.src.read(p)
		r.counts.Bytes += int64(n)
		return n, err
	}, view: func(back int) *filemap.Mapping {
		at := l.src.at()
		m := l.src.view(back)
		r.counts.Bytes += l.src.at() - at
		return m
	}}
	l.inner = framer{pool: &r.pool, big: r.big,
		read: func(p []byte) (int, error) { return l.unpack.read(p) },
		view: func(int) *filemap.Mapping { return nil }}
	return l
}

func (l *lane) close() {
	if l.unpack != nil {
		l.unpack.stop()
		l.unpack = nil
	}
	if l.decoder != nil {
		l.decoder.Close()
	}
	l.outer.drop()
	l.inner.drop()
	l.err = errClosed
}

// invalidRecord is the error of a record with a valid size, so that the records after it can
// be read.
type invalidRecord struct{ error }

// next reads records until it finds one that does not wait, and returns it with its
// error. If the queue has a record ready or the lane has ended first, raw is nil.
func (l *lane) next() (raw []byte, e entry, err error) {
	for {
		if _, ok := l.queue.first(); ok {
			return nil, e, nil
		}
		if l.err != nil {
			if l.queue.waiting() == 0 {
				return nil, e, nil
			}
			l.queue.flush()
			continue
		}
		f, raw, err := l.record()
		invalid, isInvalid := err.(invalidRecord)
		if err != nil && !isInvalid {
			l.err = err
			continue
		}
		e = entry{chunk: f.chunk.index, pos: uint32(f.last), offset: f.at}
		if f == &l.inner {
			e.offset = l.packedAt
		}
		if isInvalid {
			return raw, e, invalid.error
		}
		t := Type(f.u32(raw))
		if t >= firstOfPerf {
			if t == TypeFinishedRound {
				l.queue.finish()
			}
			return raw, e, nil
		}
		// As in tools/perf/util/ordered-events.c.
		if e.time = l.r.timeOf(t, raw[headerSize:]); e.time == 0 || e.time == math.MaxUint64 {
			return raw, e, nil
		}
		f.chunk.pending++
		l.queue.push(e)
		if l.r.waiting() > queueLimit {
			l.queue.relieve()
		}
	}
}

// record returns the next record, and its framer. It returns the records in a COMPRESSED
// record instead of the record itself.
func (l *lane) record() (*framer, []byte, error) {
	for {
		if !l.unpacked {
			raw, err := l.inner.next()
			if err == nil {
				return &l.inner, raw, nil
			}
			l.unpacked = true
			if err != errNeedInput {
				l.unpack.stop()
				l.unpack = nil
				l.inner.drop()
				return &l.outer, l.packed, invalidRecord{fmt.Errorf("decompressed record: %w", err)}
			}
		}
		raw, err := l.outer.next()
		if n := l.inner.partial(); err == io.EOF && n > 0 {
			err = fmt.Errorf("record at %#x: its last %d decompressed bytes are an incomplete record: %w", l.packedAt, n, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, nil, err
		}
		c := cursor{b: raw[headerSize:], big: l.outer.big}
		switch Type(l.outer.u32(raw)) {
		case TypeCompressed:
			err = l.feed(raw, c.b)
		case TypeCompressed2:
			if data := c.u64(); data < uint64(len(c.b)) && !l.outer.inWrapped {
				c.b = c.b[:data]
			}
			err = l.feed(raw, c.b)
		case TypeAuxtrace:
			l.skip(c.u64())
			return &l.outer, raw, nil
		case TypeHeaderTracingData:
			l.skip(uint64(c.u32()))
			return &l.outer, raw, nil
		default:
			return &l.outer, raw, nil
		}
		if err != nil {
			return &l.outer, raw, invalidRecord{err}
		}
	}
}

// feed starts decompression of the content of a COMPRESSED record.
func (l *lane) feed(raw, content []byte) (err error) {
	if l.unpack == nil {
		if !bytes.HasPrefix(content, []byte(zstdMagic)) {
			return errors.New("an earlier compressed record is missing")
		}
		if l.decoder == nil {
			l.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return err
			}
		}
		l.unpack = newDecompressor(l.decoder)
	}
	l.unpack.feed(content)
	l.packed, l.packedAt, l.unpacked = raw, l.outer.at, false
	return nil
}

// skip skips n bytes after the last record, which belong to it.
func (l *lane) skip(n uint64) {
	at := l.outer.offset()
	if n <= math.MaxInt64 {
		remaining := l.outer.skip(int64(n))
		if l.src.skip(remaining) == nil {
			l.r.counts.Bytes += remaining
			return
		}
	}
	l.err = fmt.Errorf("%d trailing bytes after the record, from %#x on: %w", n, at, io.ErrUnexpectedEOF)
}
