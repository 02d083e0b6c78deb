// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package libunwind

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory returns zeroed memory of n bytes, a multiple of the page, near an
// address with enough space. It is not part of Go's heap: libunwind reads it.
func mapMemory(n int, near uint64) ([]byte, error) {
	// The address is a wish: without MAP_FIXED nothing that lies there is lost.
	// It is not a pointer before that, for the collector.
	wish := uintptr(near) &^ uintptr(unix.Getpagesize()-1)
	p, _, errno := unix.Syscall6(unix.SYS_MMAP, wish, uintptr(n),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
	if errno != 0 {
		return nil, fmt.Errorf("mmap of %d bytes for libunwind: %w", n, errno)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

func unmapMemory(b []byte) {
	// That it fails has no remedy, and no harm but memory.
	_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0)
}
