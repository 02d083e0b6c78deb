// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrMemory means that the tables have reached their limit, or that the system refused memory
// for them.
var ErrMemory = errors.New("no memory for the tables of Go's runtime")

// space is a range of address space that is never unmapped. Go's runtime, and values that it
// gave to the program, may refer to it for ever. Pages become accessible as they are needed.
type space struct {
	name  string
	base  unsafe.Pointer
	limit uint64 // bytes reserved
	used  uint64 // bytes allocated once
	ready uint64 // bytes accessible

	visible uint64 // bytes in the slices of modules

	free [64][]uint64
}

// step is the unit in which a space becomes accessible.
const step = 1 << 20

// limitedShare is the part of a limited address space that each space may take: the program needs
// most of it.
const limitedShare = 64

// reserve reserves address space: size bytes, or less if the process has a limit.
func reserve(name string, size uint64) (*space, error) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil && limit.Cur != unix.RLIM_INFINITY {
		for size > limit.Cur/limitedShare && size > 4*step {
			size /= 2
		}
	}
	for {
		s, err := reserveAll(name, size)
		if err == nil || size <= 4*step {
			return s, err
		}
		size /= 2
	}
}

// reserveAll reserves size bytes of address space.
func reserveAll(name string, size uint64) (*space, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMemory, os.NewSyscallError("mmap", err))
	}
	return &space{name: name, base: p, limit: size}, nil
}

func (s *space) release() {
	if s != nil {
		_ = unix.MunmapPtr(s.base, uintptr(s.limit))
	}
}

// at returns the memory at an offset.
func (s *space) at(offset uint64) unsafe.Pointer { return unsafe.Add(s.base, offset) }

func (s *space) bytes(offset, size uint64) []byte {
	return unsafe.Slice((*byte)(s.at(offset)), size)
}

// extend allocates memory that was never allocated before. It is zero.
func (s *space) extend(size uint64) (offset uint64, err error) {
	if size > s.limit-s.used {
		return 0, fmt.Errorf("%w: %d bytes of %s are used, of at most %d", ErrMemory, s.used, s.name, s.limit)
	}
	if end := s.used + size; end > s.ready {
		more := min((end-s.ready+step-1)&^(step-1), s.limit-s.ready)
		if err := unix.Mprotect(s.bytes(s.ready, more), unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrMemory, os.NewSyscallError("mprotect", err))
		}
		s.ready += more
	}
	offset = s.used
	s.used += size
	return offset, nil
}

// minBlock is the size of the smallest block. A record has this size too, so that a pointer to
// one that was freed points to a record again when its block is reused.
const minBlock = 64

// class returns the class of a block: its size is 1<<class.
func class(size uint64) int { return bits.Len64(max(size, minBlock) - 1) }

// alloc allocates a block of at least size bytes, aligned to minBlock. Its contents are zero,
// or as they were when it was freed.
func (s *space) alloc(size uint64) (offset uint64, err error) {
	k := class(size)
	if n := len(s.free[k]); n > 0 {
		offset = s.free[k][n-1]
		s.free[k] = s.free[k][:n-1]
		return offset, nil
	}
	return s.extend(1 << k)
}

// put frees what alloc returned for size.
func (s *space) put(offset, size uint64) {
	k := class(size)
	s.free[k] = append(s.free[k], offset)
}

// interned is a space of C strings, each of which is written once and never removed: the
// strings that Go's runtime returns alias them.
type interned struct {
	*space
	offsets map[string]uint32
}

func (s *interned) add(text string) (uint32, error) {
	if offset, ok := s.offsets[text]; ok {
		return offset, nil
	}
	offset, err := s.extend(uint64(len(text)) + 1)
	if err != nil {
		return 0, err
	}
	copy(s.bytes(offset, uint64(len(text))), text)
	s.offsets[text] = uint32(offset)
	return uint32(offset), nil
}

// pages counts the tables of values in the parts of a space. Offsets in it are never reused,
// because each M of the runtime remembers values by offset and program counter
// (runtime.pcvalueCache). Memory without a table that is in use goes back to the system.
type pages struct {
	*space
	tables []int // for each page, tables that are not freed
}

const pageSize = 64 << 10

func (p *pages) add(table []byte) (uint32, error) {
	offset, err := p.extend(uint64(len(table)))
	if err != nil {
		return 0, err
	}
	copy(p.bytes(offset, uint64(len(table))), table)
	for page := offset / pageSize; page <= (offset+uint64(len(table))-1)/pageSize; page++ {
		for uint64(len(p.tables)) <= page {
			p.tables = append(p.tables, 0)
		}
		p.tables[page]++
	}
	return uint32(offset), nil
}

func (p *pages) remove(offset uint32, size int) {
	for page := uint64(offset) / pageSize; page <= (uint64(offset)+uint64(size)-1)/pageSize; page++ {
		if p.tables[page]--; p.tables[page] == 0 && (page+1)*pageSize <= p.used {
			// Without this call the memory stays, and nothing else changes.
			_ = unix.Madvise(p.bytes(page*pageSize, pageSize), unix.MADV_DONTNEED)
		}
	}
}
