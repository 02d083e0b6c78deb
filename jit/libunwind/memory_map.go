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

// mapMemory returns n bytes of zeroed memory, a multiple of the page size, near an
// address with enough free space. It is not part of Go's heap: libunwind reads it.
func mapMemory(n int, near uint64) ([]byte, error) {
	// The address is a hint: without MAP_FIXED no existing mapping is replaced. It is a
	// uintptr until mmap returns, so that the collector never sees it as a pointer.
	wish := uintptr(near) &^ uintptr(unix.Getpagesize()-1)
	p, _, errno := unix.Syscall6(unix.SYS_MMAP, wish, uintptr(n),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
	if errno != 0 {
		return nil, fmt.Errorf("mmap of %d bytes for libunwind: %w", n, errno)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil
}

func unmapMemory(b []byte) {
	// A failure cannot be handled, and only wastes memory.
	_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0)
}
