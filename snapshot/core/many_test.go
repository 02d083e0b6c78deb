// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
)

// opened opens a core and returns the number of bytes allocated.
func opened(t *testing.T, m *made) (*core.Core, uint64) {
	t.Helper()
	path := write(t, m.bytes())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := core.Open(path, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, after.TotalAlloc - before.TotalAlloc
}

// The threads of a core take the memory of a thread and its notes each.
func TestThreadMemory(t *testing.T) {
	m := &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_X86_64}
	const threads = 5000
	for i := range threads {
		m.thread(i+1, 0, 216)
	}
	c, taken := opened(t, m)
	if n := len(c.Snapshot().Threads); n != threads {
		t.Errorf("%d threads, expected %d", n, threads)
	}
	if most := 3*uint64(len(m.notes)) + threads*uint64(unsafe.Sizeof(snapshot.Thread{})) + 1<<20; taken > most {
		t.Errorf("%d bytes were allocated for %d threads, expected at most %d", taken, threads, most)
	}
}

// The list of mapped files is bounded.
func TestManyMappedFiles(t *testing.T) {
	m := &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_X86_64}
	m.thread(1, 11, 216)
	const most, ranges = 1 << 16, 1<<16 + 1000
	files := m.word(m.word(nil, ranges), 4096)
	for i := range uint64(ranges) {
		files = m.word(m.word(m.word(files, (i+1)<<13), (i+1)<<13+4096), 0)
	}
	m.note(0x46494c45, append(files, strings.Repeat("\x00", ranges)...))
	c, _ := opened(t, m)
	want := fmt.Sprintf("NT_FILE: %d ranges, only the first %d are read", ranges, most)
	if err := c.Damage(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
	if n := len(c.Snapshot().Mappings); n != most {
		t.Errorf("%d mappings, expected %d", n, most)
	}
}

// The list of segments is bounded; segments without a file take only their own size.
func TestManySegments(t *testing.T) {
	m := &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_X86_64}
	m.thread(1, 11, 216)
	m.xnum = true
	const most, segments = 1 << 19, 1<<19 + 1000
	m.loads = make([]elf.ProgHeader, segments)
	for i := range m.loads {
		m.loads[i] = elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Vaddr: uint64(i+1) << 13, Memsz: 4096}
	}
	c, taken := opened(t, m)
	want := fmt.Sprintf("program headers: only the first %d are read", most)
	if err := c.Damage(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
	if n := len(c.Snapshot().Mappings); n == 0 || n > most {
		t.Errorf("%d mappings, expected %d at most", n, most)
	}
	if limit := uint64(most * (unsafe.Sizeof(snapshot.Mapping{}) + 40 + 80)); taken > limit {
		t.Errorf("%d bytes were allocated for %d segments, expected at most %d", taken, most, limit)
	}
}
