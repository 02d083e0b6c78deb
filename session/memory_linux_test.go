// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package session

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Memory for code is found wherever it is free, also at an unusual distance.
func TestExecutableInTheOnlyGap(t *testing.T) {
	const reserved, reach, size = 1 << 30, 1 << 28, 1 << 16
	mapped, err := unix.MmapPtr(-1, 0, nil, reserved, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.MunmapPtr(mapped, reserved)
	start := uint64(uintptr(mapped))
	near := start + reserved/2
	if e, err := newExecutable(near, size, reach); err == nil {
		e.close()
		t.Fatalf("memory at %#x, but all within %#x bytes of %#x is mapped", e.address, reach, near)
	}
	gap := near - 100<<20 - 3*size
	if _, _, errno := unix.Syscall(unix.SYS_MUNMAP, uintptr(gap), size, 0); errno != 0 {
		t.Fatal(errno)
	}
	e, err := newExecutable(near, size, reach)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if e.address != gap {
		t.Errorf("memory at %#x, expected the gap at %#x", e.address, gap)
	}
}
