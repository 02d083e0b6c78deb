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

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot/core"
)

// open opens a made core. It fails if that allocates more than 64 MiB plus 16 times the size
// of the core.
func open(t *testing.T, b []byte) *core.Core {
	t.Helper()
	return openOf(t, b, "")
}

// openOf opens a made core of a program.
func openOf(t *testing.T, b []byte, program string) *core.Core {
	t.Helper()
	path, opts := write(t, b), &core.Options{Search: debugfile.Search{Root: t.TempDir()}, Program: program}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := core.Open(path, opts)
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

// damage fails unless the core's damage has this text.
func damage(t *testing.T, c *core.Core, want string) {
	t.Helper()
	if err := c.Damage(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("damage %v, expected %q", err, want)
	}
}

func empty() *made {
	return &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_X86_64}
}

// Notes that many program headers refer to are read once.
func TestOverlappingNotes(t *testing.T) {
	m := empty()
	for i := range 1000 {
		m.thread(1+i, 0, 216)
	}
	m.repeat = 999
	c := open(t, m.bytes())
	if n := len(c.Snapshot().Threads); n != 1000 {
		t.Errorf("%d threads", n)
	}
	damage(t, c, "they overlap")
}

// Segments of notes that partly overlap, or exceed the address space, are read as far as
// they contain new notes.
func TestPartlyOverlappingNotes(t *testing.T) {
	m := empty()
	for i := range 4 {
		m.thread(1+i, 0, 216)
	}
	m.repeat = 1
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

// If a thread occurs twice, its first note is used, and the floating-point registers after the
// second note belong to no thread.
func TestRepeatedThread(t *testing.T) {
	m := empty()
	m.machine, m.order = elf.EM_S390, binary.BigEndian
	fp := func(v byte) {
		b := make([]byte, 136)
		for i := range b {
			b[i] = v
		}
		m.note(2, b)
	}
	m.thread(1, 0, 216)
	fp(1)
	m.thread(1, 0, 216)
	fp(2)
	c := open(t, m.bytes())
	once := empty()
	once.machine, once.order = m.machine, m.order
	once.notes = m.notes[:len(m.notes)/2]
	want := open(t, once.bytes()).Snapshot().Threads
	if got := c.Snapshot().Threads; len(got) != 1 || len(want) != 1 || got[0].Registers != want[0].Registers {
		t.Errorf("%d threads: %+v, expected %+v", len(got), got, want)
	}
	damage(t, c, "thread 1 occurs twice")
}

// image is an x86-64 ELF image with program headers of these offsets and sizes in the
// file; every second one is executable.
func image(segments ...[2]uint64) []byte {
	m := empty()
	for i, s := range segments {
		m.load(s[0], elf.PF_R|elf.ProgFlag(i&1), s[1], nil)
	}
	b := m.bytes()
	le := binary.LittleEndian
	le.PutUint16(b[16:], uint16(elf.ET_DYN))
	for i, s := range segments {
		p := b[64+56*(1+i):]
		le.PutUint64(p[8:], s[0])
		le.PutUint64(p[32:], s[1])
	}
	return b
}

// Memory without a segment has the permissions in the image's program headers, also with
// the largest number of them.
func TestPermissions(t *testing.T) {
	for _, more := range []int{0, 60000} {
		m := empty()
		m.thread(1, 0, 216)
		segments := [][2]uint64{{0, 0x1800}, {0x1800, 0x1800}, {0x3800, 0x100}, {0x3900, 0x3000}, {0x9000, 0x10}}
		for i := range uint64(more) {
			segments = append(segments, [2]uint64{0x100000 + i*4096, 4096})
		}
		content := image(segments...)
		content = append(content, make([]byte, -len(content)&4095)...)
		m.load(0x10000000, elf.PF_R, uint64(len(content)), content)
		list := [][3]uint64{{0x10000000, 0x10000000 + uint64(len(content)), 0}}
		offsets := []uint64{1, 2, 3, 6, 7, 9, 10}
		want := []bool{true, true, true, true, true, false, true} // 7 and 10 are in no segment: usually code
		for i := range uint64(more) {
			offsets = append(offsets, 0x100+i)
			want = append(want, i%2 == 0)
		}
		for i, page := range offsets {
			at := 0x20000000 + uint64(i)*8192
			list = append(list, [3]uint64{at, at + 4096, page})
		}
		b := m.word(m.word(nil, uint64(len(list))), 4096)
		for _, r := range list {
			b = m.word(m.word(m.word(b, r[0]), r[1]), r[2])
		}
		m.note(0x46494c45, append(b, strings.Repeat("/nonexistent/lib\x00", len(list))...))
		s := open(t, m.bytes()).Snapshot()
		for i := range offsets {
			if got := s.Mapping(0x20000000 + uint64(i)*8192); got == nil || got.Executable != want[i] {
				t.Fatalf("page %#x of %d segments: %+v, executable %v expected", offsets[i], len(segments), got, want[i])
			}
		}
	}
}

// If many files have their headers in the same bytes of a core, the bytes read are
// bounded.
func TestManyImages(t *testing.T) {
	m := empty()
	m.thread(1, 0, 216)
	const size, files = 4 << 20, 100
	segments := make([][2]uint64, 60000)
	for i := range segments {
		segments[i] = [2]uint64{uint64(i) * 4096, 4096}
	}
	content := image(segments...)
	m.load(0x100000000, elf.PF_R, size, content)
	b := m.word(m.word(nil, 2*files), 4096)
	var paths []byte
	for i := range uint64(files) {
		if at := 0x100000000 + i*size; i > 0 {
			p := m.loads[0]
			p.Vaddr = at
			m.loads = append(m.loads, p)
		}
		b = m.word(m.word(m.word(b, 0x100000000+i*size), 0x100000000+i*size+size), 0)
		b = m.word(m.word(m.word(b, 0x200000000+i*size), 0x200000000+i*size+4096), 7)
		name := "/nonexistent/" + string(rune('A'+i/26)) + string(rune('a'+i%26)) + "\x00"
		paths = append(paths, name+name...)
	}
	m.note(0x46494c45, append(b, paths...))
	c := open(t, m.bytes())
	damage(t, c, "ELF headers and notes of the mapped files: more than 33554432 bytes")
	use(c)
	if list := c.Missing(); len(list) != files {
		t.Errorf("%d files are missing", len(list))
	}
}

// fileNote returns an NT_FILE of a 64-bit core: ranges of one page each, not adjacent,
// with the paths in turn.
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

// Only one list of mapped files is used.
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
	m.repeat = 1000
	if n := len(open(t, m.bytes()).Snapshot().Mappings); n != 20000 {
		t.Errorf("%d mappings", n)
	}
}

// hostile are small cores that once made the reader hold more than they contain: overlapping
// notes, many lists of files, and files with their headers in the same bytes.
func hostile() []*made {
	notes := empty()
	for i := range 8 {
		notes.thread(1+i, 0, 216)
	}
	notes.repeat = 200
	files := empty()
	files.thread(1, 0, 216)
	for range 20 {
		files.fileNote(20, "/x", "/y")
	}
	files.repeat = 20
	small := full(elf.ELFCLASS32, binary.BigEndian, elf.EM_PPC, 192)
	small.repeat = 100
	images := empty()
	images.thread(1, 0, 216)
	b := images.word(images.word(nil, 20), 4096)
	var paths []byte
	for i := range uint64(10) {
		images.loads = append(images.loads, elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R, Vaddr: 0x10000 + i<<16, Memsz: 4096, Filesz: 1024})
		b = images.word(images.word(images.word(b, 0x10000+i<<16), 0x11000+i<<16), 0)
		b = images.word(images.word(images.word(b, 0x18000+i<<16), 0x19000+i<<16), 7)
		name := "/nonexistent/" + string(rune('a'+i)) + "\x00"
		paths = append(paths, name+name...)
	}
	images.content = pages(16)
	images.note(0x46494c45, append(b, paths...))
	return []*made{notes, files, small, images}
}

// maxLinkedRanges is the largest number of ranges from a dynamic linker's list.
const maxLinkedRanges = 1 << 17

// Hostile contents result in no more than the core's size allows, and are reported.
func TestHostileSeeds(t *testing.T) {
	for i, want := range []string{"they overlap", "NT_FILE: there is more than one", "they overlap", ""} {
		c := open(t, hostile()[i].bytes())
		if want != "" {
			damage(t, c, want)
		}
		use(c)
	}
}

// Reading memory that the core lacks allocates nothing: a search reads page by page.
func TestAbsentMemory(t *testing.T) {
	m := empty()
	m.thread(1, 0, 216)
	m.load(0x10000000, elf.PF_R|elf.PF_W, 1<<30, nil)
	memory := open(t, m.bytes()).Snapshot().Memory
	const reads = 4096
	var b [8]byte
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range uint64(reads) {
		if err := memory.ReadMemory(b[:], 0x10000000+i*4096); !isError(err, core.ErrNotDumped) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / reads; n > 1024 {
		t.Errorf("%d bytes are allocated a read", n)
	}
}
