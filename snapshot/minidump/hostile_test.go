// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package minidump_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/minidump"
	"github.com/clewdev/clew/stack"
)

// bytesMemory is memory with ascending bytes.
type bytesMemory struct{}

func (bytesMemory) ReadMemory(p []byte, addr uint64) error {
	for i := range p {
		p[i] = byte((addr + uint64(i)) / 8)
	}
	return nil
}

// made returns a small dump of two threads, of a machine.
func made(t testing.TB, machine elf.Machine, opts stacktest.MinidumpOptions) []byte {
	s := &snapshot.Snapshot{PID: 42, Command: "./server -p 80", Machine: arch.Lookup(machine, elf.ELFCLASSNONE, elf.ELFDATA2LSB), Memory: bytesMemory{}}
	s.Mappings = []snapshot.Mapping{
		{Start: 0x10000, End: 0x12000, Readable: true, Executable: true, Inode: 1, Path: "/nonexistent/lib"},
		{Start: 0x12000, End: 0x13000, Offset: 0x2000, Readable: true, Writable: true, Inode: 2, Path: "/nonexistent/gone", Deleted: true},
		{Start: 0x20000, End: 0x21000, Readable: true, Writable: true},
		{Start: 0x70000, End: 0x71000, Readable: true, Executable: true, Path: "[vdso]"},
	}
	for i, name := range []string{"server", "w\u00f6rker \U0001f9f6"} {
		thread := snapshot.Thread{ID: 42 + i, Name: name}
		thread.Registers.PC = 0x10100
		for column := range uint64(32) {
			thread.Registers.Set(column, 0x1000+column)
		}
		thread.Registers.Set(uint64(s.Machine.StackPointer), 0x20f80)
		s.Threads = append(s.Threads, thread)
	}
	s.Signal = &snapshot.Signal{Number: 11, Code: 1, Thread: 43, Machine: s.Machine, Address: 0xdead0, HasAddress: true}
	opts.Auxv = make([]byte, 4*s.Machine.AddressSize)
	return stacktest.Minidump(t, s, opts)
}

// The content of a dump is read, for each machine.
func TestMadeDumps(t *testing.T) {
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM} {
		_, s := open(t, write(t, made(t, machine, stacktest.MinidumpOptions{})), nil)
		if s.PID != 42 || s.Command != "./server -p 80" || len(s.Threads) != 2 || s.Machine.ELF != machine || s.Live {
			t.Fatalf("%v: %+v", machine, s)
		}
		for i, name := range []string{"server", "w\u00f6rker \U0001f9f6"} {
			thread := &s.Threads[i]
			sp, _ := thread.Registers.Get(uint64(s.Machine.StackPointer))
			if thread.ID != 42+i || thread.Name != name || thread.Err != nil || thread.Registers.PC != 0x10100 || sp != 0x20f80 {
				t.Errorf("%v: thread %d %q, %v, PC %#x, SP %#x", machine, thread.ID, thread.Name, thread.Err, thread.Registers.PC, sp)
			}
			for column := range uint64(s.Machine.StackPointer) {
				if v, ok := thread.Registers.Get(column); !ok || v != 0x1000+column {
					t.Errorf("%v: register %d is %#x, %t", machine, column, v, ok)
				}
			}
		}
		if got, want := s.Signal.String(), "SIGSEGV at 0xdead0: no memory is mapped there"; got != want || s.Signal.Thread != 43 {
			t.Errorf("%v: thread %d got %s", machine, s.Signal.Thread, got)
		}
		if len(s.Mappings) != 4 || !s.Mappings[1].Deleted || s.Mappings[1].Path != "/nonexistent/gone" || s.Mappings[3].Path != "[vdso]" {
			t.Errorf("%v: mappings %+v", machine, s.Mappings)
		}
		var b [8]byte
		if err := s.Memory.ReadMemory(b[:], 0x20f88); err != nil || b[0] != 0xf1 {
			t.Errorf("%v: stack: % x, %v", machine, b, err)
		}
		for address, want := range map[uint64]string{0x20000: "it was not dumped", 0x30000: "nothing was mapped there", 0x10000: "/nonexistent/lib"} {
			if err := s.Memory.ReadMemory(b[:], address); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %#x: %v", machine, address, err)
			}
		}
	}
}

// entry returns the offset of a stream's entry in the directory, and that of its data.
func entry(t testing.TB, b []byte, typ uint32) (at, data uint32) {
	t.Helper()
	le := binary.LittleEndian
	at = le.Uint32(b[12:])
	for range le.Uint32(b[8:]) {
		if le.Uint32(b[at:]) == typ {
			return at, le.Uint32(b[at+8:])
		}
		at += 12
	}
	t.Fatalf("no stream %#x", typ)
	return 0, 0
}

// The types of streams (MINIDUMP_STREAM_TYPE).
const (
	threadList      = 3
	moduleList      = 4
	memoryList      = 5
	exceptionStream = 6
	systemInfo      = 7
	memory64List    = 9
	threadNames     = 24
)

var le = binary.LittleEndian

// damagedDumps are changes of a dump, with the error of Open or the damage that is found.
var damagedDumps = []struct {
	name   string
	change func(b []byte, at func(typ uint32) (entry, data uint32)) []byte
	err    string // of Open
	damage string
}{
	{name: "empty", change: func([]byte, func(uint32) (uint32, uint32)) []byte { return nil }, err: "not a minidump: it starts with , not with 4d 44 4d 50"},
	{name: "header", change: func(b []byte, _ func(uint32) (uint32, uint32)) []byte { return b[:20] },
		err: "header: 20 bytes, 32 expected: the minidump is truncated"},
	{name: "big-endian", change: func(b []byte, _ func(uint32) (uint32, uint32)) []byte { return append([]byte("PMDM"), b[4:]...) },
		err: "a minidump in big-endian byte order"},
	{name: "version", change: func(b []byte, _ func(uint32) (uint32, uint32)) []byte { le.PutUint32(b[4:], 7); return b },
		err: "header: version 0x7, 0xa793 expected"},
	{name: "directory", change: func(b []byte, _ func(uint32) (uint32, uint32)) []byte { le.PutUint32(b[12:], 1<<31); return b },
		err: "directory at offset 0x80000000 of 10 streams: 120 bytes at offset 0x80000000 expected, the file ends at 0x"},
	{name: "streams", change: func(b []byte, _ func(uint32) (uint32, uint32)) []byte { le.PutUint32(b[8:], 1<<32-1); return b },
		err: "bytes at offset 0x"},
	{name: "no system", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		entry, _ := at(systemInfo)
		le.PutUint32(b[entry:], 0)
		return b
	}, err: "no SystemInfo stream, so the machine is not known"},
	{name: "Windows", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(systemInfo)
		le.PutUint32(b[data+20:], 2)
		return b
	}, err: "a minidump of Windows, expected one of Linux or Android"},
	{name: "machine", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(systemInfo)
		le.PutUint16(b[data:], 6)
		return b
	}, err: "processor architecture 0x6 is not supported"},
	{name: "many threads", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(threadList)
		le.PutUint32(b[data:], 1<<32-1)
		return b
	}, damage: "entries of 48 bytes expected, 2 found"},
	{name: "stream beyond the file", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		entry, _ := at(threadList)
		le.PutUint32(b[entry+8:], 1<<32-16)
		return b
	}, damage: "ThreadList stream at offset 0xfffffff0: 4 bytes at offset 0xfffffff0 expected, the file ends at 0x"},
	{name: "two streams", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		entry, _ := at(memoryList)
		le.PutUint32(b[entry:], threadList)
		return b
	}, damage: "there is more than one ThreadList stream, only the first one is used"},
	{name: "equal threads", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(threadList)
		le.PutUint32(b[data+4+48:], 42)
		return b
	}, damage: "thread 42 occurs twice"},
	{name: "stack beyond the file", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(memoryList)
		le.PutUint32(b[data+4+8:], 1<<31)
		return b
	}, damage: "2147483648 bytes at offset 0x"},
	{name: "overflow", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(memoryList)
		le.PutUint64(b[data+4:], 1<<64-2)
		return b
	}, damage: "go beyond the address space or the file"},
	{name: "long name", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(threadNames)
		le.PutUint32(b[le.Uint32(b[data+8:]):], 1<<30)
		return b
	}, damage: "1073741824 bytes, expected an even number up to 512"},
	{name: "odd name", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(threadNames)
		le.PutUint32(b[le.Uint32(b[data+8:]):], 3)
		return b
	}, damage: "thread 42: string at offset 0x"},
	{name: "name beyond the file", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(threadNames)
		le.PutUint64(b[data+8:], 1<<63)
		return b
	}, damage: "4 bytes at offset 0x8000000000000000 expected"},
	{name: "memory of two entries, overflowing", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		entry, _ := at(memoryList)
		list := le.AppendUint64(le.AppendUint64(nil, 2), 1<<63-1)
		list = le.AppendUint64(le.AppendUint64(list, 0x1000), 1<<62)
		list = le.AppendUint64(le.AppendUint64(list, 0x2000), 1<<62)
		copy(b[entry:], le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, memory64List), uint32(len(list))), uint32(len(b))))
		return append(b, list...)
	}, damage: "the offset overflows"},
	{name: "exception", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		entry, _ := at(exceptionStream)
		le.PutUint32(b[entry+4:], 100)
		return b
	}, damage: "100 bytes, at least 168 expected"},
	{name: "modules", change: func(b []byte, at func(uint32) (uint32, uint32)) []byte {
		_, data := at(moduleList)
		le.PutUint32(b[data:], 3)
		return b
	}, damage: "3 entries of 108 bytes expected, 0 found"},
}

// Damaged dumps are refused, or the damage names the stream, the offset, and what was
// found and expected.
func TestHostile(t *testing.T) {
	for _, test := range damagedDumps {
		t.Run(test.name, func(t *testing.T) {
			b := made(t, elf.EM_X86_64, stacktest.MinidumpOptions{})
			b = test.change(b, func(typ uint32) (uint32, uint32) { return entry(t, b, typ) })
			path := write(t, b)
			source, err := minidump.Open(path, &snapshot.Options{Root: t.TempDir()})
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("%v, expected %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			if err := source.Damage(); err == nil || !strings.Contains(err.Error(), test.damage) || !strings.Contains(err.Error(), "at offset 0x") {
				t.Errorf("damage %v, expected %q", err, test.damage)
			}
			use(t, source)
		})
	}
}

// use does everything with a dump that programs do.
func use(t testing.TB, source snapshot.Source) {
	s, err := source.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{MaxFrames: 64})
	_ = objects.Name(stacks, stack.NameOptions{})
	var b [64]byte
	for i := range s.Mappings {
		_ = s.Memory.ReadMemory(b[:], s.Mappings[i].Start)
		_ = s.Memory.ReadMemory(b[:], s.Mappings[i].End-1)
	}
	for _, m := range source.Missing() {
		if m.Err == nil {
			t.Error("a file is missing for no reason")
		}
	}
}

// seeds are dumps of each kind.
func seeds(t testing.TB) (list [][]byte) {
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM} {
		list = append(list, made(t, machine, stacktest.MinidumpOptions{}), made(t, machine, stacktest.MinidumpOptions{Full: true, NoMaps: true}))
	}
	return append(list, made(t, elf.EM_AARCH64, stacktest.MinidumpOptions{OldARM64: true}))
}

// Dumps that are truncated or damaged anywhere result in an error or an answer.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	path := filepath.Join(t.TempDir(), "a.dmp")
	opts := &snapshot.Options{Root: t.TempDir()}
	try := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if source, err := minidump.Open(path, opts); err == nil {
			use(t, source)
			source.Close()
		}
	}
	for _, whole := range seeds(t) {
		heads := []uint64{8, 12, 32, uint64(binary.LittleEndian.Uint32(whole[12:]))}
		for range 100 {
			try(corpus.Mutate(r, whole, heads, binary.LittleEndian))
		}
		for n := 0; n < len(whole); n += 1 + n/20 {
			try(whole[:n])
		}
	}
}

// A file of holes, with lists that claim all of it, takes little memory and time.
func TestSparse(t *testing.T) {
	b := made(t, elf.EM_X86_64, stacktest.MinidumpOptions{})
	le := binary.LittleEndian
	const size = 1 << 30
	for _, typ := range []uint32{3, 4, 5, 24, 0x47670009} {
		changed := append([]byte(nil), b...)
		at, _ := entry(t, changed, typ)
		le.PutUint32(changed[at+4:], size)
		le.PutUint32(changed[at+8:], uint32(len(changed)))
		path := write(t, append(changed, 0xff, 0xff, 0xff, 0x7f))
		if err := os.Truncate(path, size+int64(len(changed))); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		source, err := minidump.Open(path, &snapshot.Options{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		source.Close()
		if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
			t.Errorf("stream %#x: %d bytes are allocated in %v", typ, n, time.Since(began))
		}
	}
}

// replace returns a dump with other data in place of a stream.
func replace(t testing.TB, b []byte, typ uint32, data []byte) []byte {
	at, _ := entry(t, b, typ)
	binary.LittleEndian.PutUint32(b[at+4:], uint32(len(data)))
	binary.LittleEndian.PutUint32(b[at+8:], uint32(len(b)))
	return append(b, data...)
}

// Entries that share bytes of the file do not multiply the memory for them.
func TestSharedBytes(t *testing.T) {
	const threads, modules, count, longest = 3, 4, 16000, 8192
	le := binary.LittleEndian
	whole := made(t, elf.EM_X86_64, stacktest.MinidumpOptions{})
	allocated := func(b []byte) (source snapshot.Source, n uint64) {
		path := write(t, b)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		source, err := minidump.Open(path, &snapshot.Options{Root: t.TempDir()})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { source.Close() })
		return source, after.TotalAlloc - before.TotalAlloc
	}

	_, data := entry(t, whole, threads)
	list := le.AppendUint32(nil, count)
	for i := range uint32(count) {
		list = append(le.AppendUint32(list, i+1), whole[data+8:data+4+48]...)
	}
	dump := replace(t, append([]byte(nil), whole...), threads, list)
	source, _ := allocated(dump)
	s, err := source.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Threads); n < 2 || n > 4096 {
		t.Errorf("%d threads of a file of %d bytes are read", n, len(dump))
	}
	if err := source.Damage(); err == nil || !strings.Contains(err.Error(), "16000 entries, the first 4096 are read") {
		t.Errorf("damage: %v", err)
	}

	dump = append([]byte(nil), whole...)
	list = le.AppendUint32(nil, count)
	for i := range uint64(count) {
		module := make([]byte, 108)
		le.PutUint64(module, 0x100000+i<<12)
		le.PutUint32(module[8:], 1<<12)
		le.PutUint32(module[20:], uint32(len(dump)))
		list = append(list, module...)
	}
	dump = le.AppendUint32(dump, longest)
	dump = append(dump, "/\x00"...)
	for range longest/2 - 1 {
		dump = le.AppendUint16(dump, 0x4e00)
	}
	if _, n := allocated(replace(t, dump, modules, list)); n > 64<<20 {
		t.Errorf("%d modules that share a path of %d bytes allocate %d bytes", count, longest, n)
	}
}

// The kernel lists no relative paths: the files of the directory that Clew runs in are not the target's.
func TestRelativePath(t *testing.T) {
	b := made(t, elf.EM_X86_64, stacktest.MinidumpOptions{})
	path := write(t, replace(t, b, 0x47670009, []byte("10000-12000 r-xp 00000000 08:01 1 ./hostile_test.go\n20000-21000 rw-p 00000000 00:00 0\n")))
	source, err := minidump.Open(path, &snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	use(t, source)
	if missing := source.Missing(); len(missing) > 0 {
		t.Errorf("%s was looked for: %v", missing[0].Path, missing[0].Err)
	}
	s, err := source.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var text [8]byte
	if err := s.Memory.ReadMemory(text[:], 0x10000); err == nil {
		t.Errorf("%q is read of a file in the current directory", text)
	}
}

func FuzzOpen(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Add([]byte(fmt.Sprintf("MDMP\x93\xa7\x00\x00%s", make([]byte, 40))))
	path, opts := filepath.Join(f.TempDir(), "a.dmp"), &snapshot.Options{Root: f.TempDir()}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if source, err := minidump.Open(path, opts); err == nil {
			use(t, source)
			source.Close()
		}
	})
}
