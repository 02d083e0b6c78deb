// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"

	"github.com/clewdev/clew/internal/untrusted"
)

// ErrFormat is wrapped by errors about a file that is not a recording, or a recording
// that this package cannot read.
var ErrFormat = errors.New("not a perf.data file that can be read")

// A recording begins with a u64, whose value gives the byte order, and the u64 size of
// the header.
const (
	magicLittle = "PERFILE2"
	magicBig    = "2ELIFREP"
	magicOld    = "PERFFILE" // of before Linux 3.x
	magicSize   = 16
)

// Layout of struct perf_file_header in tools/perf/util/header.h: magic, size,
// attr_size, the sections (u64 offset, u64 size) of attributes, data and event
// types, a bitmap of 256 features.
const (
	fileHeaderSize    = 104
	oldFileHeaderSize = 72 // without the features
	sectionSize       = 16

	// maxSection is the number of bytes that are read of a section of the header at most.
	maxSection = 16 << 20
)

// readMagic reads the first magicSize bytes of a recording.
func (r *Reader) readMagic(b []byte) error {
	switch magic := string(b[:8]); magic {
	case magicLittle:
	case magicBig:
		r.big = true
	case magicOld:
		return fmt.Errorf("%w: it begins with %q, the format of perf before Linux 3.3", ErrFormat, magic)
	default:
		return fmt.Errorf("%w: it begins with %q, not %q", ErrFormat, magic, magicLittle)
	}
	c := cursor{b: b[8:], big: r.big}
	r.headerSize = c.u64()
	r.pipe = r.headerSize == magicSize
	if !r.pipe && r.headerSize < oldFileHeaderSize {
		return fmt.Errorf("%w: size of the header is %d, which must be %d (pipe) or at least %d", ErrFormat, r.headerSize, magicSize, oldFileHeaderSize)
	}
	return nil
}

// readHeader reads the header of a file of the given size, and returns the source of its
// records.
func (r *Reader) readHeader(file io.ReaderAt, size int64) (*fileSource, error) {
	n := min(r.headerSize, fileHeaderSize)
	b := make([]byte, n)
	if _, err := file.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("header of %d bytes: %w", n, unexpected(err))
	}
	c := cursor{b: b[magicSize:], big: r.big}
	attrSize := c.u64()
	attrs, data := section{c.u64(), c.u64()}, section{c.u64(), c.u64()}
	c.skip(sectionSize) // event types
	var present uint64  // of the first features; this package reads none of the others
	if n == fileHeaderSize {
		present = c.u64()
	}
	if err := r.readAttributes(file, size, attrs, attrSize); err != nil {
		return nil, err
	}
	if data.offset > uint64(size) {
		return nil, fmt.Errorf("data at %#x: %w", data.offset, errBeyond(size))
	}
	src := newFileSource(file, int64(data.offset), size)
	switch {
	case data.size == 0:
		src.atEnd = fmt.Errorf("the header does not contain the size of the data (was perf record killed?): %w", io.ErrUnexpectedEOF)
	case data.size > uint64(size)-data.offset:
		src.atEnd = fmt.Errorf("data from %#x to %#x: %w", data.offset, data.offset+data.size, errBeyond(size))
	default:
		src.end = int64(data.offset + data.size)
		r.readFeatures(file, size, src.end, present)
	}
	src.cut = fmt.Errorf("data from %#x to %#x: the file has become shorter: %w", data.offset, src.end, io.ErrUnexpectedEOF)
	return src, nil
}

// errBeyond returns the error for a part that is beyond the end of a file of a size.
func errBeyond(size int64) error {
	return fmt.Errorf("the file ends at %#x: %w", size, io.ErrUnexpectedEOF)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// section is struct perf_file_section.
type section struct {
	offset, size uint64
}

// read returns the content of the section. The error says which part is not in the file,
// which has the given size.
func (s section) read(file io.ReaderAt, size int64) ([]byte, error) {
	if s.offset > uint64(size) || s.size > uint64(size)-s.offset {
		return nil, fmt.Errorf("section of %d bytes at %#x: %w", s.size, s.offset, errBeyond(size))
	}
	b := make([]byte, min(s.size, maxSection))
	n, err := file.ReadAt(b, int64(s.offset))
	if n < len(b) {
		return nil, fmt.Errorf("section of %d bytes at %#x: %w", s.size, s.offset, unexpected(err))
	}
	return b, nil
}

// stored returns the number of stored bytes of a file of the given size.
func stored(file io.ReaderAt, size int64) int64 {
	if f, ok := file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return min(size, untrusted.Stored(f, info))
		}
	}
	return size
}

// readAttributes reads the section of attributes: for each a perf_event_attr and the
// section of its IDs.
func (r *Reader) readAttributes(file io.ReaderAt, size int64, attrs section, attrSize uint64) error {
	if attrSize < minAttribute+sectionSize || attrSize > maxRecord {
		return fmt.Errorf("%w: size of an attribute is %d, which must be from %d to %d", ErrFormat, attrSize, minAttribute+sectionSize, maxRecord)
	}
	b, err := attrs.read(file, size)
	if err != nil {
		return fmt.Errorf("attributes: %w", err)
	}
	// Sections may overlap and lie in holes, but all IDs together may not take more bytes
	// than the file stores.
	for left := stored(file, size); uint64(len(b)) >= attrSize; b = b[attrSize:] {
		c := cursor{b: b[attrSize-sectionSize : attrSize], big: r.big}
		ids := section{c.u64(), c.u64()}
		if ids.size > uint64(left) {
			return fmt.Errorf("%w: IDs of events take up more than the file", ErrFormat)
		}
		left -= int64(ids.size)
		list, err := ids.read(file, size)
		if err != nil {
			return fmt.Errorf("IDs of event %d: %w", len(r.attributes), err)
		}
		if err := r.attribute(b[:attrSize-sectionSize], list); err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	return nil
}

// readFeatures reads the sections in the table at offset, which has one entry for each
// bit. It skips sections that cannot be read.
func (r *Reader) readFeatures(file io.ReaderAt, size, offset int64, present uint64) {
	for ; present != 0; present &= present - 1 {
		f := feature(bits.TrailingZeros64(present))
		b, err := section{uint64(offset), sectionSize}.read(file, size)
		if err != nil {
			return
		}
		offset += sectionSize
		if decoded>>f&1 == 0 {
			continue
		}
		c := cursor{b: b, big: r.big}
		if b, err := (section{c.u64(), c.u64()}).read(file, size); err == nil {
			r.feature(f, b)
		}
	}
}
