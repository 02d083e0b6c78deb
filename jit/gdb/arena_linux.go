// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory is mapPages; tests replace it to simulate a lack of memory.
var mapMemory = mapPages

// mapPages returns n bytes of fresh memory, with a capacity of whole pages.
func mapPages(n int) ([]byte, error) {
	page := os.Getpagesize()
	b, err := unix.MmapPtr(-1, 0, nil, uintptr((n+page-1)&^(page-1)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*byte)(b), (n+page-1)&^(page-1))[:n], nil
}

// unmapMemory unmaps what mapPages returned.
func unmapMemory(b []byte) {
	// Munmap fails only for invalid arguments, which mapPages never returns.
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(cap(b)))
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
