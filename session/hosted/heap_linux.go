// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package hosted

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// newHeap maps size bytes between two inaccessible pages.
func newHeap(size int) (*heap, error) {
	page := unix.Getpagesize()
	size = (size + page - 1) / page * page
	mapping, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	if err := unix.Mprotect(mapping[page:page+size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unix.Munmap(mapping)
		return nil, err
	}
	start := uint64(uintptr(unsafe.Pointer(&mapping[page])))
	return &heap{mapping: mapping, start: start, next: start, end: start + uint64(size), sizes: make(map[uint64]uint64)}, nil
}

func (h *heap) close() error {
	mapping := h.mapping
	h.mapping, h.next, h.free, h.sizes = nil, h.end, nil, nil
	if mapping == nil {
		return nil
	}
	return unix.Munmap(mapping)
}
