// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
)

// A made core is written by hand, for any class and byte order.
type made struct {
	class   elf.Class
	order   binary.ByteOrder
	machine elf.Machine
	flags   uint32 // of MIPS: n32, whose registers have eight bytes
	notes   []byte
	repeat  int // number of additional program headers for the notes
	loads   []elf.ProgHeader
	content []byte // of the segments, in order
	xnum    bool   // the number of program headers is in the section table
}

func (m *made) word(b []byte, v uint64) []byte {
	o := m.order.(binary.AppendByteOrder)
	if m.class == elf.ELFCLASS64 {
		return o.AppendUint64(b, v)
	}
	return o.AppendUint32(b, uint32(v))
}

func (m *made) half(b []byte, v ...uint16) []byte {
	for _, v := range v {
		b = m.order.(binary.AppendByteOrder).AppendUint16(b, v)
	}
	return b
}

func (m *made) quad(b []byte, v ...uint32) []byte {
	for _, v := range v {
		b = m.order.(binary.AppendByteOrder).AppendUint32(b, v)
	}
	return b
}

func (m *made) note(typ uint32, desc []byte) { m.noteOf("CORE", typ, desc) }

func (m *made) noteOf(owner string, typ uint32, desc []byte) {
	m.notes = m.quad(m.notes, uint32(len(owner)+1), uint32(len(desc)), typ)
	m.notes = append(m.notes, (owner + "\x00\x00\x00\x00")[:8]...)
	m.notes = append(m.notes, desc...)
	m.notes = append(m.notes, make([]byte, -len(desc)&3)...)
}

// thread adds a thread of size bytes of registers, the words of which count up.
func (m *made) thread(tid, signal, size int) {
	at, id, tail := 112, 32, 8
	if m.class == elf.ELFCLASS32 {
		at, id, tail = 72, 24, 4
	}
	switch {
	case m.machine == elf.EM_68K:
		at, id = 70, 22
	case m.machine == elf.EM_S390, m.flags != 0:
		tail = 8 // the registers are aligned to eight bytes
	}
	b := make([]byte, at, at+size)
	m.order.PutUint16(b[12:], uint16(signal))
	m.order.PutUint32(b[id:], uint32(tid))
	for n := uint64(0); len(b) < at+size; n++ {
		if m.flags != 0 {
			b = m.order.(binary.AppendByteOrder).AppendUint64(b, 0x1000+8*n)
			continue
		}
		b = m.word(b, 0x1000+8*n)
	}
	m.note(1, append(b, make([]byte, tail)...))
}

func (m *made) load(addr uint64, flags elf.ProgFlag, memsz uint64, content []byte) {
	m.loads = append(m.loads, elf.ProgHeader{Type: elf.PT_LOAD, Flags: flags, Vaddr: addr, Memsz: memsz,
		Off: uint64(len(m.content)), Filesz: uint64(len(content))})
	m.content = append(m.content, content...)
}

func (m *made) bytes() []byte {
	ehsize, phsize, shsize := 64, 56, 64
	if m.class == elf.ELFCLASS32 {
		ehsize, phsize, shsize = 52, 32, 40
	}
	count := 1 + m.repeat + len(m.loads)
	notesAt := ehsize + count*phsize
	contentAt := notesAt + len(m.notes)
	data, shoff, phnum := byte(1), 0, count
	if m.order == binary.BigEndian {
		data = 2
	}
	if m.xnum {
		shoff, phnum = contentAt+len(m.content), 0xffff
	}
	b := append([]byte("\x7fELF"), byte(m.class), data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = m.half(b, uint16(elf.ET_CORE), uint16(m.machine))
	b = m.quad(b, 1)
	b = m.word(m.word(m.word(b, 0), uint64(ehsize)), uint64(shoff))
	b = m.quad(b, m.flags)
	b = m.half(b, uint16(ehsize), uint16(phsize), uint16(phnum), uint16(shsize), 0, 0)
	note := elf.ProgHeader{Type: elf.PT_NOTE, Off: uint64(notesAt), Filesz: uint64(len(m.notes))}
	for _, p := range append(slices.Repeat([]elf.ProgHeader{note}, 1+m.repeat), m.loads...) {
		if p.Type == elf.PT_LOAD {
			p.Off += uint64(contentAt)
		}
		b = m.quad(b, uint32(p.Type))
		if m.class == elf.ELFCLASS64 {
			b = m.quad(b, uint32(p.Flags))
		}
		for _, v := range []uint64{p.Off, p.Vaddr, 0, p.Filesz, p.Memsz} {
			b = m.word(b, v)
		}
		if m.class == elf.ELFCLASS32 {
			b = m.quad(b, uint32(p.Flags))
		}
		b = m.word(b, 1)
	}
	b = append(append(b, m.notes...), m.content...)
	if m.xnum {
		section := make([]byte, shsize)
		at := 44
		if m.class == elf.ELFCLASS32 {
			at = 28
		}
		m.order.PutUint32(section[at:], uint32(count))
		b = append(b, section...)
	}
	return b
}

// makers make a core of each class and byte order, with everything that is read.
var makers = map[string]func() *made{
	"x86-64":  func() *made { return full(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, 216) },
	"s390x":   func() *made { return full(elf.ELFCLASS64, binary.BigEndian, elf.EM_S390, 216) },
	"riscv64": func() *made { return full(elf.ELFCLASS64, binary.LittleEndian, elf.EM_RISCV, 256) },
	"arm":     func() *made { return full(elf.ELFCLASS32, binary.LittleEndian, elf.EM_ARM, 72) },
	"s390":    func() *made { return full(elf.ELFCLASS32, binary.BigEndian, elf.EM_S390, 144) },
	"m68k":    func() *made { return full(elf.ELFCLASS32, binary.BigEndian, elf.EM_68K, 80) },
	"ppc":     func() *made { return full(elf.ELFCLASS32, binary.BigEndian, elf.EM_PPC, 192) },
	"sparc64": func() *made { return full(elf.ELFCLASS64, binary.BigEndian, elf.EM_SPARCV9, 288) },
	"mips64":  func() *made { return full(elf.ELFCLASS64, binary.BigEndian, elf.EM_MIPS, 360) },
	"mips":    func() *made { return full(elf.ELFCLASS32, binary.BigEndian, elf.EM_MIPS, 180) },
	"mipsn32": func() *made {
		m := &made{flags: 0x20} // EF_MIPS_ABI2
		return m.fill(elf.ELFCLASS32, binary.BigEndian, elf.EM_MIPS, 360)
	},
}

func full(class elf.Class, order binary.ByteOrder, machine elf.Machine, registers int) *made {
	return new(made).fill(class, order, machine, registers)
}

func (m *made) fill(class elf.Class, order binary.ByteOrder, machine elf.Machine, registers int) *made {
	m.class, m.order, m.machine = class, order, machine
	word, union, psinfo, ids := 8, 16, 136, 24
	if class == elf.ELFCLASS32 {
		word, union, psinfo, ids = 4, 12, 124, 12
	}
	m.thread(43, 11, registers)
	info := make([]byte, psinfo)
	order.PutUint32(info[ids:], 42)
	copy(info[ids+16:], "server")
	copy(info[ids+32:], "./server -p 80 ")
	m.note(3, info)
	siginfo := make([]byte, 128)
	order.PutUint32(siginfo, 11)
	code := siginfo[8:]
	if machine == elf.EM_MIPS {
		code = siginfo[4:] // si_code before si_errno
	}
	order.PutUint32(code, 1)
	copy(siginfo[union:], m.word(nil, 0xdead0))
	m.note(0x53494749, siginfo)
	m.note(6, m.word(m.word(m.word(m.word(nil, 33), 0x70000), 0), 0))
	var files []byte
	for _, v := range []uint64{2, 4096, 0x10000, 0x12000, 0, 0x12000, 0x13000, 2} {
		files = m.word(files, v)
	}
	m.note(0x46494c45, append(files, "/nonexistent/lib\x00/nonexistent/gone (deleted)\x00"...))
	m.thread(42, 0, registers)
	content := make([]byte, 0x200)
	for i := range content {
		content[i] = byte(i / word)
	}
	m.load(0x10000, elf.PF_R|elf.PF_X, 0x2000, nil)
	m.load(0x12000, elf.PF_R|elf.PF_W, 0x1000, content)
	m.load(0x20000, elf.PF_R|elf.PF_W, 0x1000, content)
	m.load(0x70000, elf.PF_R|elf.PF_X, 0x1000, content)
	return m
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rewrite replaces a file. Truncating and rewriting one would make ext4 wait for the
// disk.
func rewrite(path string, b []byte) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// The contents of a core are read for any class and byte order, and for each place of the
// number of program headers.
func TestMadeCores(t *testing.T) {
	for name, maker := range makers {
		for _, xnum := range []bool{false, true} {
			m := maker()
			m.xnum = xnum
			c, err := core.Open(write(t, m.bytes()), nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer c.Close()
			if err := c.Damage(); err != nil {
				t.Errorf("%s: damage: %v", name, err)
			}
			s := c.Snapshot()
			if s.Machine.Name != name || s.PID != 42 || s.Command != "./server -p 80" || len(s.Threads) != 2 || s.Live {
				t.Fatalf("%s: %+v", name, s)
			}
			first, second := &s.Threads[0], &s.Threads[1]
			if first.ID != 42 || first.Name != "server" || second.ID != 43 || second.Name != "" || first.Err != nil || second.Registers.PC == 0 {
				t.Errorf("%s: threads %d %q %v, %d %q, PC %#x", name, first.ID, first.Name, first.Err, second.ID, second.Name, second.Registers.PC)
			}
			if got, want := s.Signal.String(), "SIGSEGV at 0xdead0: no memory is mapped there"; got != want || s.Signal.Thread != 43 {
				t.Errorf("%s: thread %d got %s", name, s.Signal.Thread, got)
			}
			want := []snapshot.Mapping{
				{Start: 0x10000, End: 0x12000, Readable: true, Executable: true, Path: "/nonexistent/lib"},
				{Start: 0x12000, End: 0x13000, Offset: 0x2000, Readable: true, Writable: true, Path: "/nonexistent/gone", Deleted: true},
				{Start: 0x20000, End: 0x21000, Readable: true, Writable: true},
				{Start: 0x70000, End: 0x71000, Readable: true, Executable: true, Path: "[vdso]"},
			}
			if len(s.Mappings) != len(want) {
				t.Fatalf("%s: mappings %+v", name, s.Mappings)
			}
			for i := range want {
				if s.Mappings[i] != want[i] {
					t.Errorf("%s: mapping %+v, expected %+v", name, s.Mappings[i], want[i])
				}
			}
			b := make([]byte, 8)
			if err := s.Memory.ReadMemory(b, 0x20100); err != nil || b[0] != byte(0x100/wordOf(m)) {
				t.Errorf("%s: % x, %v", name, b, err)
			}
			for addr, kind := range map[uint64]error{0x30000: core.ErrNotMapped, 0x20200: core.ErrNotDumped, 0x201fc: core.ErrNotDumped, 0x12f00: core.ErrNotDumped} {
				if err := s.Memory.ReadMemory(b, addr); !isError(err, kind) {
					t.Errorf("%s: %#x: %v", name, addr, err)
				}
			}
			if err := s.Memory.ReadMemory(b, 0x10000); !isError(err, core.ErrNotDumped) || len(c.Missing()) != 1 || c.Missing()[0].Path != "/nonexistent/lib" {
				t.Errorf("%s: %v, missing %v", name, err, c.Missing())
			}
		}
	}
}

func wordOf(m *made) int {
	if m.class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// use does everything with a core that programs do: for any contents the result is an
// error or an answer, not a panic.
func use(c *core.Core) (frames int) {
	s := c.Snapshot()
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{MaxFrames: 64})
	_ = objects.Name(stacks, stack.NameOptions{})
	for i := range stacks {
		frames += len(stacks[i].Frames)
	}
	var b [64]byte
	for i := range s.Mappings {
		m := &s.Mappings[i]
		_ = s.Memory.ReadMemory(b[:], m.Start)
		_ = s.Memory.ReadMemory(b[:], m.End-1)
	}
	for _, m := range c.Missing() {
		if m.Err == nil {
			panic("a file is missing for no reason")
		}
	}
	return frames
}

// A core that is truncated anywhere is not a core, or its beginning is read and the damage
// reported.
func TestCutOff(t *testing.T) {
	for name, maker := range makers {
		for _, xnum := range []bool{false, true} {
			m := maker()
			m.xnum = xnum
			whole := m.bytes()
			end := len(whole)
			if xnum {
				end -= 40 // of the section table: beyond the number that is in it
			}
			path, opts := write(t, nil), &core.Options{Search: debugfile.Search{Root: t.TempDir()}}
			for n := range end {
				if n > 400 && n%31 != 0 {
					continue
				}
				if err := rewrite(path, whole[:n]); err != nil {
					t.Fatal(err)
				}
				c, err := core.Open(path, opts)
				if err != nil {
					if n > 64+56*5 {
						t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(whole), err)
					}
					continue
				}
				if c.Damage() == nil {
					t.Errorf("%s cut to %d of %d bytes: no damage", name, n, len(whole))
				}
				use(c)
				c.Close()
			}
		}
	}
}

// Damaged cores result in an error or an answer.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	path := write(t, nil)
	opts := &core.Options{Search: debugfile.Search{Root: t.TempDir()}}
	for _, maker := range makers {
		m := maker()
		whole := m.bytes()
		heads := []uint64{0, 16, 32, 48, 64, 120, 176, 232, 344, 700, 1000}
		for range 150 {
			b := corpus.Mutate(r, whole, heads, m.order)
			if err := rewrite(path, b); err != nil {
				t.Fatal(err)
			}
			if c, err := core.Open(path, opts); err == nil {
				use(c)
				c.Close()
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, maker := range makers {
		m := maker()
		f.Add(m.bytes())
		m.xnum = true
		f.Add(m.bytes())
	}
	for _, m := range hostile() {
		f.Add(m.bytes())
	}
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x58\x21\x00\x00\x7fELF"))
	f.Add([]byte("\x04\x22\x4d\x18\x64\x40\xa7\x04\x00\x00\x80\x7fELF"))
	path := filepath.Join(f.TempDir(), "core")
	opts := &core.Options{Search: debugfile.Search{Root: f.TempDir()}, TempDir: f.TempDir()}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := rewrite(path, b); err != nil {
			t.Fatal(err)
		}
		c, err := core.Open(path, opts)
		if (c == nil) != (err != nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err == nil {
			// Each thread needs a note, and each range of a list of files its words. The compressed
			// size says nothing about the contents.
			s := c.Snapshot()
			if bytes.HasPrefix(b, []byte(elf.ELFMAG)) && (len(s.Threads) > len(b)/72 || len(s.Mappings) > len(b)/4+maxLinkedRanges) {
				t.Fatalf("%d threads and %d mappings in %d bytes", len(s.Threads), len(s.Mappings), len(b))
			}
			use(c)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A file that is not a core has another error than a core that is truncated.
func TestNotCore(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		program:                              "not ET_CORE",
		t.TempDir():                          "not a regular file",
		write(t, nil):                        "not an ELF core: it is empty",
		write(t, []byte("#!/bin/sh\n")):      "23 21 2f 62",
		write(t, []byte("\xfd7zXZ\x00")):     "xz -d",
		write(t, []byte("\x1f\x8b\x08\x00")): "gzip -d",
		write(t, []byte("BZh9")):             "bzip2 -d",
	} {
		c, err := core.Open(path, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v, %v", path, c, err)
		}
	}
	if _, err := core.Open("/nonexistent", nil); !isError(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// The notes of one machine: arm64's thread pointer is read.
func TestThreadPointer(t *testing.T) {
	m := &made{class: elf.ELFCLASS64, order: binary.LittleEndian, machine: elf.EM_AARCH64}
	for tid := 1; tid < 3; tid++ {
		m.thread(tid, 0, 34*8)
		m.noteOf("LINUX", 0x401, m.word(nil, uint64(tid)<<32))
		m.noteOf("LINUX", 1, nil)
	}
	m.load(0x400000, elf.PF_R, 0x1000, nil)
	c := openOf(t, m.bytes(), "")
	for _, thread := range c.Snapshot().Threads {
		const tpidrEL0 = 36
		if got, ok := thread.Registers.Get(tpidrEL0); !ok || got != uint64(thread.ID)<<32 {
			t.Errorf("thread %d: %#x, %t", thread.ID, got, ok)
		}
	}
	if n := len(c.Snapshot().Threads); n != 2 {
		t.Errorf("%d threads", n)
	}
}
