// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"debug/elf"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// The offset of a program's thread-local storage from the thread pointer is the one that
// linkers use.
func TestFixedOffset(t *testing.T) {
	for _, test := range []struct {
		machine             elf.Machine
		vaddr, memsz, align uint64
		want                int64
	}{
		{elf.EM_X86_64, 0x3de0, 0x10, 4, -0x10},
		{elf.EM_X86_64, 0x3de0, 0x11, 8, -0x18},
		{elf.EM_X86_64, 0x3dc0, 0x50, 64, -0x80},
		{elf.EM_X86_64, 0x3dc8, 0x50, 64, -0x78}, // its address is not aligned
		{elf.EM_X86_64, 0x3dc8, 0x50, 0, -0x50},
		{elf.EM_AARCH64, 0x1fdf0, 0x10, 4, 0x10},
		{elf.EM_AARCH64, 0x1fdc0, 0x10, 64, 0x40},
		{elf.EM_AARCH64, 0x1fdc8, 0x10, 64, 0x48},
	} {
		m := arch.Lookup(test.machine, elf.ELFCLASS64, elf.ELFDATA2LSB)
		p := elf.ProgHeader{Vaddr: test.vaddr, Memsz: test.memsz, Align: test.align}
		if got := int64(fixedOffset(m.ThreadStorage, &p)); got != test.want {
			t.Errorf("%s %+v: %#x, expected %#x", m.Name, p, got, test.want)
		}
	}
}

// The error names the missing part.
func TestThreadLocalMissing(t *testing.T) {
	m := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	if _, err := threadPointer(m, &stack.Stack{Parked: new(snapshot.Thread)}); err == nil || !strings.Contains(err.Error(), "no thread") {
		t.Errorf("of a goroutine that no thread runs: %v", err)
	}
	walked := &stack.Stack{Thread: new(snapshot.Thread)}
	if _, err := threadPointer(m, walked); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("of a thread without the register: %v", err)
	}
	snapshot.ThreadPointer(&walked.Thread.Registers, m, []byte{8: 0})
	if pointer, err := threadPointer(m, walked); err != nil || pointer != 0 {
		t.Errorf("of a thread with the register: %#x, %v", pointer, err)
	}
	f, err := object.Open(testprogram.Build(t, "chain.c"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := new(glibc).read(f); err == nil || !strings.Contains(err.Error(), "_thread_db_") {
		t.Errorf("of a library without glibc's symbols: %v", err)
	}
}
