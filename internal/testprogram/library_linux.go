// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"debug/elf"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MapLibrary maps a shared library without relocations into this process, until the test
// ends, and returns the address of one of its functions. The load bias is not zero.
func MapLibrary(t testing.TB, path, function string) uint64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := elf.NewFile(file)
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(0)
	page := uint64(os.Getpagesize())
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			size = max(size, (p.Vaddr+p.Memsz+page-1)&^(page-1))
		}
	}
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.MunmapPtr(start, uintptr(size)) })
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		protection := 0
		for flag, bit := range map[elf.ProgFlag]int{elf.PF_R: unix.PROT_READ, elf.PF_W: unix.PROT_WRITE, elf.PF_X: unix.PROT_EXEC} {
			if p.Flags&flag != 0 {
				protection |= bit
			}
		}
		in := p.Vaddr & (page - 1)
		at := unsafe.Add(start, p.Vaddr-in)
		if _, err := unix.MmapPtr(int(file.Fd()), int64(p.Off-in), at, uintptr(p.Filesz+in), protection, unix.MAP_PRIVATE|unix.MAP_FIXED); err != nil {
			t.Fatal(err)
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == function {
			return uint64(uintptr(start)) + s.Value
		}
	}
	t.Fatalf("%s: no function %s", path, function)
	return 0
}
