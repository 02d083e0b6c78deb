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
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

func describe(s *space) string {
	var b strings.Builder
	for _, m := range s.mappings {
		name := "-"
		if m.file != nil {
			name = m.file.path
		}
		fmt.Fprintf(&b, "%x-%x %s+%x ", m.start, m.end, name, m.offset)
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
		{"one after the other", func(s *space) {
			s.add(mapping{0x3000, 0x4000, 0, b})
		}, "1000-3000 a+0 3000-4000 b+0"},
		{"before", func(s *space) { s.add(mapping{0, 0x1000, 0, b}) }, "0-1000 b+0 1000-3000 a+0"},
		{"the same", func(s *space) { s.add(mapping{0x1000, 0x3000, 0x10, b}) }, "1000-3000 b+10"},
		{"the start", func(s *space) { s.add(mapping{0x800, 0x1800, 0, b}) }, "800-1800 b+0 1800-3000 a+800"},
		{"the end", func(s *space) { s.add(mapping{0x2800, 0x3800, 0, b}) }, "1000-2800 a+0 2800-3800 b+0"},
		{"the middle", func(s *space) { s.add(mapping{0x1800, 0x2000, 0, b}) }, "1000-1800 a+0 1800-2000 b+0 2000-3000 a+1000"},
		{"all of several", func(s *space) {
			s.add(mapping{0x4000, 0x5000, 0, b})
			s.add(mapping{0x800, 0x6000, 0, nil})
		}, "800-6000 -+0"},
		{"removed", func(s *space) { s.remove(0x1800, 0x2000) }, "1000-1800 a+0 2000-3000 a+1000"},
		{"removed, but nothing", func(s *space) { s.remove(0x3000, 0x4000); s.remove(0, 0x1000) }, "1000-3000 a+0"},
	} {
		s := newSpace()
		s.add(mapping{0x1000, 0x3000, 0, a})
		test.do(s)
		if got := describe(s); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestHolds(t *testing.T) {
	a, b := &file{fileKey: fileKey{path: "a"}}, &file{fileKey: fileKey{path: "b"}}
	s := newSpace()
	s.add(mapping{0x1000, 0x2000, 0, a})
	s.add(mapping{0x2000, 0x3000, 0x1000, a})
	s.add(mapping{0x4000, 0x5000, 0, nil})
	for _, test := range []struct {
		m    mapping
		want bool
	}{
		{mapping{0x1000, 0x3000, 0, a}, true},
		{mapping{0x1800, 0x2800, 0x800, a}, true},
		{mapping{0x1800, 0x2800, 0, a}, false},
		{mapping{0x1800, 0x2800, 0x800, b}, false},
		{mapping{0x2000, 0x3800, 0x1000, a}, false},
		{mapping{0x4800, 0x5000, 7, nil}, true},
		{mapping{0, 0x1000, 0, nil}, false},
	} {
		if got := s.holds(test.m); got != test.want {
			t.Errorf("%+v: %t", test.m, got)
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
		build := r.IntN(40)
		for n := range 40 {
			if n == build {
				s.lookup() // which is kept from then on
			}
			start := r.IntN(pages)
			end := start + 1 + r.IntN(min(pages-start, 12))
			m := mapping{uint64(start), uint64(end), uint64(100 * r.IntN(3)), files[r.IntN(len(files))]}
			gone := r.IntN(4) == 0
			if gone {
				s.remove(m.start, m.end)
			} else {
				s.add(m)
			}
			for p := start; p < end; p++ {
				want[p] = page{}
				if !gone {
					want[p] = page{m.file, m.offset + uint64(p-start), true}
				}
			}
		}
		for p := range want {
			i := s.first(uint64(p))
			var got page
			if i < len(s.mappings) && s.mappings[i].start <= uint64(p) {
				m := &s.mappings[i]
				got = page{m.file, m.offset + uint64(p) - m.start, true}
			}
			if got != want[p] {
				t.Fatalf("page %d is %+v, want %+v: %s", p, got, want[p], describe(s))
			}
			module, ok := s.lookup().Find(uint64(p))
			if m := s.byModule[module]; ok != got.mapped || ok && (m.file != got.file || m.m.start-m.m.offset != uint64(p)-got.offset) {
				t.Fatalf("page %d is of %+v, want %+v: %s", p, m, got, describe(s))
			}
		}
		if !slices.IsSortedFunc(s.mappings, func(a, b mapping) int { return int(a.start) - int(b.start) }) {
			t.Fatal(describe(s))
		}
	}
}

// A shared space is copied when one of its users changes it, and not before.
func TestShared(t *testing.T) {
	a := &file{fileKey: fileKey{path: "a"}}
	parent := newSpace()
	parent.add(mapping{0x1000, 0x2000, 0, a})
	parent.users = 2
	child := parent.mutable()
	child.add(mapping{0x3000, 0x4000, 0, a})
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

// The constants of an unmapped library cannot be read, and its module is dropped eventually.
func TestUnmapped(t *testing.T) {
	const libraries = 2*minModules + 10
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
		b.userFrame(b.processes[1], 0x10004, false)
		m := memory{space: s, stack: unwind.Stack{Address: 1 << 40}}
		got := make([]byte, len(text))
		if err := m.ReadMemory(got, 0x11000); err != nil || string(got) != text {
			t.Fatalf("library %d: %q, %v", i, got, err)
		}
		if len(s.byKey) > minModules+2 || len(s.byModule) != len(s.byKey) {
			t.Fatalf("%d modules of one mapping", len(s.byKey))
		}
	}
}
