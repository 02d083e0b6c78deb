// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"sync/atomic"
)

// The kinds of failed reads, besides those of missing files.
var (
	// ErrNotMapped means that nothing was mapped at the address.
	ErrNotMapped = errors.New("nothing was mapped there")
	// ErrNotDumped means that the dump does not contain the memory at the address, and
	// that no mapped file does.
	ErrNotDumped = errors.New("it was not dumped")
	// ErrTruncated means that the dump's file ends before the memory.
	ErrTruncated = errors.New("the file is truncated")
)

// memory reads the memory of a dump, and memory that the dump lacks from the mapped files.
// It implements cfi.Memory and is safe for concurrent use.
type memory struct {
	dump       *Dump
	dumpedOnly bool // read only the dump, no other files
	blocks     [blockSlots]atomic.Pointer[block]
}

// A block is a copy of some bytes of one piece.
type block struct {
	start uint64
	data  []byte
}

const (
	blockBits  = 14 // a stack of usual depth in one read
	blockSize  = 1 << blockBits
	blockSlots = 256
)

// ReadMemory implements cfi.Memory.
func (m *memory) ReadMemory(p []byte, addr uint64) error {
	for {
		b := m.blocks[addr>>blockBits%blockSlots].Load()
		if b == nil || addr-b.start >= uint64(len(b.data)) {
			var err error
			if b, err = m.load(p, addr); err != nil {
				return err
			}
			if b == nil {
				return nil
			}
		}
		n := copy(p, b.data[addr-b.start:])
		if n == len(p) {
			return nil
		}
		p, addr = p[n:], addr+uint64(n)
	}
}

// load returns a block with the byte at addr, and remembers it. If more is read than
// blocks are good for, it reads all of p and returns no block.
func (m *memory) load(p []byte, addr uint64) (*block, error) {
	if len(p) >= blockSize {
		return nil, m.read(p, addr)
	}
	x := m.dump.piece(addr)
	if x == nil {
		return nil, fmt.Errorf("memory %#x: %w", addr, ErrNotMapped)
	}
	start := max(addr&^(blockSize-1), x.start)
	end := x.end
	if stop := addr | (blockSize - 1); stop < end {
		end = stop + 1
	}
	if held := x.start + x.dumped; addr < held {
		end = min(end, held)
	} else if err := m.absent(x, addr); err != nil {
		return nil, err // a search reads much memory that does not exist
	} else {
		start = max(start, held)
	}
	b := &block{start, make([]byte, end-start)}
	n, err := m.readPiece(x, b.data, start)
	if b.data = b.data[:n]; addr-start >= uint64(n) {
		return nil, err
	}
	m.blocks[addr>>blockBits%blockSlots].Store(b)
	return b, nil
}

// read reads all of p, piece by piece.
func (m *memory) read(p []byte, addr uint64) error {
	for len(p) > 0 {
		x := m.dump.piece(addr)
		if x == nil {
			return fmt.Errorf("memory %#x: %w", addr, ErrNotMapped)
		}
		part := p[:min(uint64(len(p)), x.end-addr)]
		if held := x.start + x.dumped; addr < held {
			part = part[:min(uint64(len(part)), held-addr)]
		}
		n, err := m.readPiece(x, part, addr)
		if n < len(part) {
			return err
		}
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// readPiece reads from one piece: from the dump or the mapped file. It returns the number
// of bytes read, and an error if that is not all.
func (m *memory) readPiece(x *piece, p []byte, addr uint64) (int, error) {
	skip := addr - x.start
	if skip < x.dumped {
		n, err := m.dump.File.ReadAt(p, x.at+int64(skip))
		if n < len(p) {
			if err == io.EOF {
				err = ErrTruncated
			}
			err = fmt.Errorf("memory %#x: %w", addr+uint64(n), err)
		}
		return n, err
	}
	if err := m.absent(x, addr); err != nil {
		return 0, err
	}
	n, err := x.module.readAt(p, x.offset+skip)
	if n < len(p) {
		err = fmt.Errorf("memory %#x: %w, and %w", addr+uint64(n), ErrNotDumped, err)
	}
	return n, err
}

// absent returns the reason why neither the dump nor a file can have the byte of a piece
// at addr, which is after the dumped part. It returns nil if a file may have it.
func (m *memory) absent(x *piece, addr uint64) error {
	skip := addr - x.start
	switch {
	case skip < x.cut:
		return fmt.Errorf("memory %#x: %w: it would be at offset %#x", addr, ErrTruncated, uint64(x.at)+skip)
	case x.module == nil || x.written || m.dumpedOnly:
		return fmt.Errorf("memory %#x: %w", addr, ErrNotDumped)
	}
	return nil
}

// piece returns the piece that contains addr, or nil.
func (d *Dump) piece(addr uint64) *piece {
	i := sort.Search(len(d.pieces), func(i int) bool { return d.pieces[i].end > addr })
	if i == len(d.pieces) || d.pieces[i].start > addr {
		return nil
	}
	return &d.pieces[i]
}
