// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// add maps a file, or memory without one if it is nil.
func (s *space) add(start, end, offset uint64, f *file) {
	module := new(unwind.Module)
	if f != nil {
		module = &newMapped(f, start, end, offset).Module
	}
	s.modules.Add(start, end, module)
}

func describe(s *space) string {
	var b strings.Builder
	for _, r := range s.modules.Ranges() {
		name, offset := "-", uint64(0)
		if n := mappedBy(r.Module); n != nil {
			name, offset = n.file.path, n.offset+r.Start-n.start
		}
		fmt.Fprintf(&b, "%x-%x %s+%x ", r.Start, r.End, name, offset)
	}
	return strings.TrimSpace(b.String())
}

// A mapping replaces the overlapping parts of earlier ones.
func TestSpace(t *testing.T) {
	a, b := &file{fileKey: fileKey{path: "a"}}, &file{fileKey: fileKey{path: "b"}}
	for _, test := range []struct {
		name string
		do   func(*space)
		want string
	}{
		{"one after the other", func(s *space) { s.add(0x3000, 0x4000, 0, b) }, "1000-3000 a+0 3000-4000 b+0"},
		{"before", func(s *space) { s.add(0, 0x1000, 0, b) }, "0-1000 b+0 1000-3000 a+0"},
		{"the same", func(s *space) { s.add(0x1000, 0x3000, 0x10, b) }, "1000-3000 b+10"},
		{"the start", func(s *space) { s.add(0x800, 0x1800, 0, b) }, "800-1800 b+0 1800-3000 a+800"},
		{"the end", func(s *space) { s.add(0x2800, 0x3800, 0, b) }, "1000-2800 a+0 2800-3800 b+0"},
		{"the middle", func(s *space) { s.add(0x1800, 0x2000, 0, b) }, "1000-1800 a+0 1800-2000 b+0 2000-3000 a+1000"},
		{"all of several", func(s *space) {
			s.add(0x4000, 0x5000, 0, b)
			s.add(0x800, 0x6000, 0, nil)
		}, "800-6000 -+0"},
		{"removed", func(s *space) { s.modules.Remove(0x1800, 0x2000) }, "1000-1800 a+0 2000-3000 a+1000"},
		{"removed, but nothing", func(s *space) { s.modules.Remove(0x3000, 0x4000); s.modules.Remove(0, 0x1000) }, "1000-3000 a+0"},
	} {
		s := newSpace()
		s.add(0x1000, 0x3000, 0, a)
		test.do(s)
		if got := describe(s); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestHolds(t *testing.T) {
	a, b := &file{fileKey: fileKey{path: "a"}}, &file{fileKey: fileKey{path: "b"}}
	s := newSpace()
	s.add(0x1000, 0x2000, 0, a)
	s.add(0x2000, 0x3000, 0x1000, a)
	s.add(0x4000, 0x5000, 0, nil)
	for _, test := range []struct {
		start, end, offset uint64
		file               *file
		want               bool
	}{
		{0x1000, 0x3000, 0, a, true},
		{0x1800, 0x2800, 0x800, a, true},
		{0x1800, 0x2800, 0, a, false},
		{0x1800, 0x2800, 0x800, b, false},
		{0x2000, 0x3800, 0x1000, a, false},
		{0x4800, 0x5000, 7, nil, true},
		{0, 0x1000, 0, nil, false},
	} {
		if got := s.holds(test.start, test.end, test.file, test.offset); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// A space behaves like an array of pages for any sequence of changes.
func TestSpacePages(t *testing.T) {
	const pages = 64
	r := rand.New(rand.NewPCG(1, 2))
	files := make([]*file, 4)
	for i := range files {
		files[i] = &file{fileKey: fileKey{path: string(rune('a' + i))}}
	}
	type page struct {
		file   *file
		offset uint64
		mapped bool
	}
	for range 200 {
		s := newSpace()
		var want [pages]page
		for range 40 {
			start := r.IntN(pages)
			end := start + 1 + r.IntN(min(pages-start, 12))
			offset, file := uint64(100*r.IntN(3)), files[r.IntN(len(files))]
			gone := r.IntN(4) == 0
			if gone {
				s.modules.Remove(uint64(start), uint64(end))
			} else {
				s.add(uint64(start), uint64(end), offset, file)
			}
			for p := start; p < end; p++ {
				want[p] = page{}
				if !gone {
					want[p] = page{file, offset + uint64(p-start), true}
				}
			}
		}
		for p := range want {
			module, ok := s.modules.Find(uint64(p))
			got := page{mapped: ok}
			if n := mappedBy(module); n != nil {
				got.file, got.offset = n.file, n.offset+uint64(p)-n.start
			}
			if got != want[p] {
				t.Fatalf("page %d is %+v, want %+v: %s", p, got, want[p], describe(s))
			}
			if s.overlaps(uint64(p), uint64(p)+1) != ok {
				t.Fatalf("page %d: %s", p, describe(s))
			}
		}
	}
}

// A shared space is copied when one of its users changes it, and not before.
func TestShared(t *testing.T) {
	a := &file{fileKey: fileKey{path: "a"}}
	parent := newSpace()
	parent.add(0x1000, 0x2000, 0, a)
	parent.users = 2
	child := parent.mutable()
	child.add(0x3000, 0x4000, 0, a)
	if describe(parent) != "1000-2000 a+0" || describe(child) != "1000-2000 a+0 3000-4000 a+0" {
		t.Errorf("%s; %s", describe(parent), describe(child))
	}
	if parent.mutable() != parent || child.mutable() != child {
		t.Error("a space that nobody shares is copied")
	}
}

// writeObject writes an object file with an entry point, a page of code, and a page of
// constants with a text.
func writeObject(t testing.TB, path, text string) {
	t.Helper()
	var b bytes.Buffer
	header := elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Entry: 0x800, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2}
	code := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: 0x1000, Memsz: 0x1000, Align: 0x1000}
	constants := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Off: 0x1000, Vaddr: 0x1000, Filesz: 0x1000, Memsz: 0x1000, Align: 0x1000}
	for _, part := range []any{header, code, constants} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	data := append(b.Bytes(), make([]byte, 0x2000-b.Len())...)
	copy(data[0x1000:], text)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The constants of an unmapped library cannot be read.
func TestUnmapped(t *testing.T) {
	const libraries = 20
	dir := t.TempDir()
	b := newBuilder(new(perfdata.Reader), Options{})
	defer b.close()
	b.machine = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for i := range libraries {
		path := filepath.Join(dir, fmt.Sprint("library", i))
		text := fmt.Sprintf("constants %3d", i)
		writeObject(t, path, text)
		b.mmap(&perfdata.Record{}, &perfdata.Mmap{PID: 1, TID: 1, Start: 0x10000, Length: 0x1000, Path: []byte(path), Protection: protExec})
		s := b.processes[1].space
		b.userPlace(b.processes[1], 0x10004, false)
		m := memory{space: s, stack: unwind.Stack{Address: 1 << 40}}
		got := make([]byte, len(text))
		if err := m.ReadMemory(got, 0x11000); err != nil || string(got) != text {
			t.Fatalf("library %d: %q, %v", i, got, err)
		}
		if s.size() != 1 {
			t.Fatalf("%d modules of one mapping", s.size())
		}
	}
}
