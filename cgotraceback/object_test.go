// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestOwnMemory reads memory by both system calls, up to a page that cannot be read.
func TestOwnMemory(t *testing.T) {
	page := os.Getpagesize()
	m, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(m) }()
	for i := range m {
		m[i] = byte(i * 7 / 5)
	}
	want := bytes.Clone(m[:2*page])
	if err := unix.Mprotect(m[2*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	for name, read := range map[string]func(p []byte, addr uintptr) error{
		"process_vm_readv": func(p []byte, addr uintptr) error { return ownMemory{}.ReadMemory(p, uint64(addr)) },
		"pipe":             byPipe,
	} {
		got := make([]byte, 2*page-3)
		if err := read(got, start+3); err != nil || !bytes.Equal(got, want[3:]) {
			t.Errorf("%s: %v, or other bytes", name, err)
		}
		for _, addr := range []uintptr{start + 4, start + uintptr(2*page), 0} {
			if read(got, addr) == nil {
				t.Errorf("%s: memory at the start plus %d can be read", name, addr-start)
			}
		}
	}
}
