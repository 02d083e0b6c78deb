// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/target/core"
)

// open opens a made core, and fails where that allocates more than 16 times what
// the core has and 64 MiB, whatever of it is freed again.
func open(t *testing.T, b []byte) *core.Core {
	t.Helper()
	path := write(t, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := core.Open(path, &core.Options{Sysroot: t.TempDir()})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(16*len(b)+64<<20); got > most {
		t.Errorf("%d bytes are allocated for a core of %d, at most %d expected", got, len(b), most)
	}
	return c
}

// damage fails unless the core's damage is told in these words.
func damage(t *testing.T, c *core.Core, want string) {
	t.Helper()
	if err := c.Damage(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("damage %v, expected %q", err, want)
	}
}

func empty() *made {
	return &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_X86_64}
}

// Notes that many program headers lead to are read once.
func TestOverlappingNotes(t *testing.T) {
	m := empty()
	for i := range 1000 {
		m.thread(1+i, 0, 216)
	}
	m.again = 999
	c := open(t, m.bytes())
	if n := len(c.Snapshot().Threads); n != 1000 {
		t.Errorf("%d threads", n)
	}
	damage(t, c, "they overlap")
}

// Segments of notes that overlap in part, or claim to go beyond the address
// space, are read as far as they hold anything new.
func TestPartlyOverlappingNotes(t *testing.T) {
	m := empty()
	for i := range 4 {
		m.thread(1+i, 0, 216)
	}
	m.again = 1
	b := m.bytes()
	note := len(m.notes) / 4
	le := binary.LittleEndian
	le.PutUint64(b[64+32:], uint64(3*note))                       // p_filesz: threads 1 to 3
	le.PutUint64(b[64+56+8:], le.Uint64(b[64+8:])+uint64(2*note)) // p_offset: thread 3
	le.PutUint64(b[64+56+32:], ^uint64(0))                        // p_filesz: without end
	c := open(t, b)
	if n := len(c.Snapshot().Threads); n != 4 {
		t.Errorf("%d threads", n)
	}
	damage(t, c, "they overlap")
	if strings.Contains(c.Damage().Error(), "twice") {
		t.Errorf("a note was read twice: %v", c.Damage())
	}
}

// A thread that is there twice is what it was first, and the floating-point
// registers behind the second are nobody's.
func TestRepeatedThread(t *testing.T) {
	m := empty()
	m.machine = elf.EM_AARCH64
	fp := func(v byte) {
		b := make([]byte, 528)
		for i := range b {
			b[i] = v
		}
		m.note(2, b)
	}
	m.thread(1, 0, 272)
	fp(1)
	m.thread(1, 0, 272)
	fp(2)
	c := open(t, m.bytes())
	once := empty()
	once.machine = m.machine
	once.notes = m.notes[:len(m.notes)/2]
	want := open(t, once.bytes()).Snapshot().Threads
	if got := c.Snapshot().Threads; len(got) != 1 || len(want) != 1 || got[0].Registers != want[0].Registers {
		t.Errorf("%d threads: %+v, expected %+v", len(got), got, want)
	}
	damage(t, c, "thread 1 is there twice")
}

// fileNote is an NT_FILE of ranges of pages of a core of 64 bits, one a page that
// is not mapped behind it, of the paths by turns.
func (m *made) fileNote(count int, paths ...string) {
	b := m.word(m.word(nil, uint64(count)), 4096)
	for i := range uint64(count) {
		b = m.word(m.word(m.word(b, 0x10000000+i*8192), 0x10000000+i*8192+4096), 1+i)
	}
	for i := range count {
		b = append(append(b, paths[i%len(paths)]...), 0)
	}
	m.note(0x46494c45, b)
}

// Of lists of mapped files one counts.
func TestManyFileNotes(t *testing.T) {
	m := empty()
	m.thread(1, 0, 216)
	m.fileNote(100, "/one")
	m.fileNote(200, "/two")
	c := open(t, m.bytes())
	if s := c.Snapshot(); len(s.Mappings) != 100 || s.Mappings[0].Path != "/one" {
		t.Errorf("%d mappings", len(s.Mappings))
	}
	damage(t, c, "NT_FILE: there is more than one")

	m = empty()
	m.thread(1, 0, 216)
	m.fileNote(20000, "/x")
	m.again = 1000
	if n := len(open(t, m.bytes()).Snapshot().Mappings); n != 20000 {
		t.Errorf("%d mappings", n)
	}
}
