// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
)

// memory is an address space with mapped pieces.
type memory map[uint64][]byte

func (m memory) ReadMemory(p []byte, addr uint64) error {
	for start, b := range m {
		if at := addr - start; at < uint64(len(b)) && uint64(len(p)) <= uint64(len(b))-at {
			copy(p, b[at:])
			return nil
		}
	}
	return fmt.Errorf("memory %#x: not mapped", addr)
}

// space is an address space with a descriptor at 0x1000.
func space(m *arch.Machine, memory memory) *Space {
	return &Space{Machine: m, Memory: memory, Symbols: func(name string) iter.Seq[uint64] {
		if name != "__jit_debug_descriptor" {
			panic(name)
		}
		return slices.Values([]uint64{0x1000})
	}}
}

var (
	x86_64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	x32    = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS32, elf.ELFDATA2LSB)
	i386   = arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	arm32  = arch.Lookup(elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB)
	s390x  = arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	ppc32  = arch.Lookup(elf.EM_PPC, elf.ELFCLASS32, elf.ELFDATA2MSB)
	m68k   = arch.Lookup(elf.EM_68K, elf.ELFCLASS32, elf.ELFDATA2MSB)
)

const elfImage = "\x7fELF............"

// The two structures of a list of two entries, as each machine lays them out.
var layouts = []struct {
	machine           *arch.Machine
	descriptor        string
	first, second     string // at 0x2000 and 0x3000
	firstAt, secondAt uint64 // symbol files
}{
	{x86_64,
		"\x01\x00\x00\x00\x01\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00",
		"\x00\x30\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x40\x00\x00\x00\x00\x00\x00" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x20\x00\x00\x00\x00\x00\x00" + "\x00\x50\x00\x00\x00\x00\x00\x00" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		0x4000, 0x5000},
	{i386, // offset of the size: 12
		"\x01\x00\x00\x00\x01\x00\x00\x00\x00\x20\x00\x00\x00\x20\x00\x00",
		"\x00\x30\x00\x00" + "\x00\x00\x00\x00" + "\x00\x40\x00\x00" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x00" + "\x00\x20\x00\x00" + "\x00\x50\x00\x00" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		0x4000, 0x5000},
	{arm32, // offset of the size: 16
		"\x01\x00\x00\x00\x01\x00\x00\x00\x00\x20\x00\x00\x00\x20\x00\x00",
		"\x00\x30\x00\x00" + "\x00\x00\x00\x00" + "\x00\x40\x00\x00" + "\xff\xff\xff\xff" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x00" + "\x00\x20\x00\x00" + "\x00\x50\x00\x00" + "\xff\xff\xff\xff" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		0x4000, 0x5000},
	{x32,
		"\x01\x00\x00\x00\x01\x00\x00\x00\x00\x20\x00\x00\x00\x20\x00\x00",
		"\x00\x30\x00\x00" + "\x00\x00\x00\x00" + "\x00\x40\x00\x00" + "\xff\xff\xff\xff" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x00\x00" + "\x00\x20\x00\x00" + "\x00\x50\x00\x00" + "\xff\xff\xff\xff" + "\x10\x00\x00\x00\x00\x00\x00\x00",
		0x4000, 0x5000},
	{s390x,
		"\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x20\x00",
		"\x00\x00\x00\x00\x00\x00\x30\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x40\x00" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x20\x00" + "\x00\x00\x00\x00\x00\x00\x50\x00" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		0x4000, 0x5000},
	{ppc32,
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00",
		"\x00\x00\x30\x00" + "\x00\x00\x00\x00" + "\x00\x00\x40\x00" + "\xff\xff\xff\xff" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		"\x00\x00\x00\x00" + "\x00\x00\x20\x00" + "\x00\x00\x50\x00" + "\xff\xff\xff\xff" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		0x4000, 0x5000},
	{m68k,
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00",
		"\x00\x00\x30\x00" + "\x00\x00\x00\x00" + "\x00\x00\x40\x00" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		"\x00\x00\x00\x00" + "\x00\x00\x20\x00" + "\x00\x00\x50\x00" + "\x00\x00\x00\x00\x00\x00\x00\x10",
		0x4000, 0x5000},
}

// Lists of all layouts are found by the symbol, and without one by a search, wherever
// in the searched memory the descriptor is.
func TestReadLayouts(t *testing.T) {
	for _, l := range layouts {
		memory := memory{0x1000: []byte(l.descriptor), 0x2000: []byte(l.first), 0x3000: []byte(l.second),
			l.firstAt: []byte(elfImage), l.secondAt: []byte(elfImage[:8] + "12345678")}
		check := func(lists []List, err error, descriptor uint64, scanned bool) {
			t.Helper()
			if err != nil || len(lists) != 1 {
				t.Fatalf("%s: %d lists, %v", l.machine.Name, len(lists), err)
			}
			list := lists[0]
			if list.Err != nil || len(list.Entries) != 2 || list.Descriptor != descriptor || list.Scanned != scanned {
				t.Fatalf("%s: %+v", l.machine.Name, list)
			}
			for i, want := range []Entry{
				{Address: 0x2000, Symfile: l.firstAt, Size: 16, Image: []byte(elfImage)},
				{Address: 0x3000, Symfile: l.secondAt, Size: 16, Image: []byte(elfImage[:8] + "12345678")},
			} {
				if got := list.Entries[i]; got.Address != want.Address || got.Symfile != want.Symfile ||
					got.Size != want.Size || string(got.Image) != string(want.Image) || got.Err != nil {
					t.Errorf("%s: entry %d: %+v, expected %+v", l.machine.Name, i, got, want)
				}
			}
		}
		lists, err := Read(space(l.machine, memory))
		check(lists, err, 0x1000, false)

		delete(memory, 0x1000)
		for _, at := range []uint64{0, 8, 0x1000 - 8, 1<<18 - 16, 1<<18 - 8, 1 << 18, 1<<20 - 24} {
			const start = 1 << 32 // 32-bit machines too, in this test
			data := make([]byte, 1<<20)
			copy(data[at:], l.descriptor)
			memory[start] = data
			lists, err := Read(&Space{Machine: l.machine, Memory: memory, Writable: []Range{{0x10, 0x20}, {start, start + 1<<20}}})
			check(lists, err, start+at, true)
		}
	}
}

// The structures of this program have the layout that readers of its machine expect.
func TestNativeLayout(t *testing.T) {
	l := layoutOf(x86_64)
	d := l.descriptor(le64(1|2<<32, 3, 4))
	if l.descriptorSize() != 24 || d != (descriptor{1, ActionUnregister, 3, 4}) {
		t.Errorf("descriptor: %+v of %d bytes", d, l.descriptorSize())
	}
	e := l.entry(le64(1, 2, 3, 4))
	if l.entrySize() != 32 || e != (entry{1, 2, 3, 4}) {
		t.Errorf("entry: %+v of %d bytes", e, l.entrySize())
	}
}

func le64(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// A core lacks pages; the search continues after them.
func TestScanHoles(t *testing.T) {
	for _, at := range []uint64{0, 0x2000 - 24, 0x5000, 0x5ff0, 0x7000 - 24} {
		memory := memory{0x2000: le64(0, 0, 0x4000, 16), 0x4000: []byte(elfImage)}
		const start = 1 << 32
		data := make([]byte, 0x7000)
		copy(data[at:], le64(1, 0x2000, 0x2000))
		// Pages 2 and 4 are missing. No pieces overlap.
		memory[start], memory[start+0x3000], memory[start+0x5000] = data[:0x2000], data[0x3000:0x4000], data[0x5000:]
		lists, err := Read(&Space{Machine: x86_64, Memory: memory, Writable: []Range{{start + 3, start + 0x7000}}})
		want := 1
		if at == 0 {
			want = 0 // before the range
		}
		if err != nil || len(lists) != want || want > 0 && lists[0].Descriptor != start+at {
			t.Errorf("at %#x: %+v, %v", at, lists, err)
		}
	}
}

// A damaged part of a list costs only that part, and reading ends.
func TestReadHostile(t *testing.T) {
	good := le64(0, 0, 0x4000, 16)
	for _, test := range []struct {
		name    string
		memory  memory
		limits  Limits
		entries int
		images  int
		err     string // of the list
		entry   string // of the last entry
	}{
		{"not mapped", memory{}, Limits{}, 0, 0, "descriptor at 0x1000: memory 0x1000: not mapped", ""},
		{"version", memory{0x1000: le64(2, 0, 0x2000)}, Limits{}, 0, 0, "version 2, expected 1", ""},
		{"first not mapped", memory{0x1000: le64(1, 0, 0x2000)}, Limits{}, 0, 0, "entry 0 at 0x2000: memory 0x2000: not mapped", ""},
		{"second not mapped", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0x3000, 0, 0x4000, 16), 0x4000: []byte(elfImage)},
			Limits{}, 1, 1, "entry 1 at 0x3000: memory 0x3000: not mapped", ""},
		{"itself", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0x2000, 0, 0x4000, 16), 0x4000: []byte(elfImage)},
			Limits{}, 1, 1, "entry 1 at 0x2000: the list is circular", ""},
		{"cycle", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0x3000, 0, 0x4000, 16), 0x3000: le64(0x2000, 0x2000, 0x4000, 16), 0x4000: []byte(elfImage)},
			Limits{}, 2, 2, "entry 2 at 0x2000: the list is circular", ""},
		{"entries", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0x3000, 0, 0x4000, 16), 0x3000: good, 0x4000: []byte(elfImage)},
			Limits{Entries: 1}, 1, 1, "more entries than the limit of 1", ""},
		{"not ELF", memory{0x1000: le64(1, 0, 0x2000), 0x2000: good, 0x4000: []byte("\x01\x00\x00\x00ERLANG.......")},
			Limits{}, 1, 0, "", "not an ELF image: it starts with 01 00 00 00"},
		{"no bytes", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x4000, 3), 0x4000: []byte(elfImage)},
			Limits{}, 1, 0, "", "not an ELF image: 3 bytes"},
		{"too large", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x4000, 1<<63), 0x4000: []byte(elfImage)},
			Limits{}, 1, 0, "", "9223372036854775808 bytes exceed the limit of 100663296"},
		{"more than there is", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x4000, 90<<20), 0x4000: append([]byte(elfImage), make([]byte, 4<<20)...)},
			Limits{}, 1, 0, "", "not mapped"},
		{"image limit", memory{0x1000: le64(1, 0, 0x2000), 0x2000: good, 0x4000: []byte(elfImage)},
			Limits{Image: 15}, 1, 0, "", "16 bytes exceed the limit of 15"},
		{"total limit", memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0x3000, 0, 0x5000, 16), 0x3000: good, 0x4000: []byte(elfImage), 0x5000: []byte(elfImage)},
			Limits{Total: 20}, 2, 1, "", "16 bytes exceed the limit of 4"},
	} {
		test.limits.Scan = 0
		s := space(x86_64, test.memory)
		s.Limits = test.limits
		lists, err := Read(s)
		if err != nil || len(lists) != 1 {
			t.Errorf("%s: %d lists, %v", test.name, len(lists), err)
			continue
		}
		l := lists[0]
		images := 0
		for _, e := range l.Entries {
			if (e.Image == nil) == (e.Err == nil) {
				t.Errorf("%s: an image or an error: %+v", test.name, e)
			}
			if e.Image != nil {
				images++
			}
		}
		if len(l.Entries) != test.entries || images != test.images || !contains(l.Err, test.err) {
			t.Errorf("%s: %d entries, %d images, %v", test.name, len(l.Entries), images, l.Err)
		}
		if test.entry != "" && !contains(l.Entries[len(l.Entries)-1].Err, test.entry) {
			t.Errorf("%s: %v, expected %q", test.name, l.Entries[len(l.Entries)-1].Err, test.entry)
		}
	}
	lists, _ := Read(space(x86_64, memory{0x1000: le64(1, 0, 0x2000), 0x2000: good, 0x4000: []byte("not ELF, not ELF")}))
	if !errors.Is(lists[0].Entries[0].Err, ErrNotELF) {
		t.Errorf("%v is not ErrNotELF", lists[0].Entries[0].Err)
	}
}

// Entries with the same symbol file share one copy.
func TestReadSharedImage(t *testing.T) {
	const first, size, entries = 0x100000, 32, 20000
	image := append([]byte(elfImage), make([]byte, 1<<16)...)
	var list []byte
	for i := range uint64(entries) {
		next := first + size*(i+1)
		if i == entries-1 {
			next = 0
		}
		list = append(list, le64(next, 0, 0x10000, uint64(len(image)))...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lists, err := Read(space(x86_64, memory{0x1000: le64(1, 0, first), first: list, 0x10000: image}))
	runtime.ReadMemStats(&after)
	if err != nil || len(lists) != 1 || lists[0].Err != nil || len(lists[0].Entries) != entries {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	for i := range lists[0].Entries {
		if e := &lists[0].Entries[i]; e.Err != nil || &e.Image[0] != &lists[0].Entries[0].Image[0] {
			t.Fatalf("entry %d has an image of its own: %v", i, e.Err)
		}
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1000*entries {
		t.Errorf("%d bytes were allocated for %d entries", n, entries)
	}
}

// A large symbol file allocates its size; one that is only partly mapped allocates nothing.
func TestReadImageMemory(t *testing.T) {
	image := append([]byte(elfImage), make([]byte, 20<<20)...)
	for _, test := range []struct{ size, most int }{{len(image), len(image) + 1<<20}, {len(image) + 1<<20, 1 << 20}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lists, err := Read(space(x86_64, memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x10000, uint64(test.size)), 0x10000: image}))
		runtime.ReadMemStats(&after)
		if err != nil || len(lists) != 1 || len(lists[0].Entries) != 1 || (lists[0].Entries[0].Err == nil) != (test.size == len(image)) {
			t.Errorf("%d bytes: %v", test.size, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(test.most) {
			t.Errorf("%d bytes were allocated for a symbol file of %d", n, test.size)
		}
	}
}

// Many lists together cost no more than one; false candidates cost little.
func TestReadHostileLists(t *testing.T) {
	m := memory{0x2000: le64(0x3000, 0, 0x5000, 16), 0x3000: le64(0x4000, 0x2000, 0x5000, 16), 0x4000: le64(0, 0x3000, 0x5000, 16), 0x5000: []byte(elfImage)}
	var lists []byte
	for range 3 {
		lists = append(lists, le64(1, 0, 0x2000)...)
	}
	m[0x10000] = lists
	s := &Space{Machine: x86_64, Memory: m, Writable: []Range{{0x10000, 0x10000 + 3*24}}, Limits: Limits{Entries: 5}}
	read, err := Read(s)
	if err != nil || len(read) != 3 {
		t.Fatalf("%d lists, %v", len(read), err)
	}
	for i, want := range []int{3, 2, 0} {
		if l := read[i]; len(l.Entries) != want || (l.Err == nil) != (i == 0) {
			t.Errorf("list %d: %d entries, %v, expected %d", i, len(l.Entries), l.Err, want)
		}
	}

	m = memory{0x2000: le64(0, 1, 0x5000, 16), 0x10000: bytes.Repeat(le64(1, 0, 0x2000), maxCandidates+1)} // no first entry
	s = &Space{Machine: x86_64, Memory: m, Writable: []Range{{0x10000, 0x10000 + uint64(len(m[0x10000]))}}}
	if read, err := Read(s); len(read) != 0 || !contains(err, "stopped at its limit of 1048576 similar places") {
		t.Errorf("%d lists, %v", len(read), err)
	}
}

func contains(err error, text string) bool {
	if err == nil {
		return text == ""
	}
	return text != "" && strings.Contains(err.Error(), text)
}

// changing is memory in which a list changes while it is read.
type changing struct {
	memory
	reads, until int
}

func (c *changing) ReadMemory(p []byte, addr uint64) error {
	if addr == 0x1000 && c.reads < c.until {
		c.reads++
		// Each walk of the list adds one more entry at its start.
		at := uint64(0x10000 + 0x100*c.reads)
		first := binary.LittleEndian.Uint64(c.memory[0x1000][16:])
		c.memory[at] = le64(first, 0, 0x4000, 16)
		c.memory[0x1000] = le64(1, at, at)
	}
	return c.memory.ReadMemory(p, addr)
}

func TestReadWhileItChanges(t *testing.T) {
	start := func() memory {
		return memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x4000, 16), 0x4000: []byte(elfImage)}
	}
	m := &changing{memory: start(), until: 5}
	s := space(x86_64, nil)
	s.Memory = m
	lists, err := Read(s)
	if err != nil || len(lists) != 1 || lists[0].Err != nil || len(lists[0].Entries) != 6 {
		t.Errorf("it came to rest: %+v, %v", lists, err)
	}
	s.Memory = &changing{memory: start(), until: 1 << 30}
	lists, err = Read(s)
	if err != nil || len(lists) != 1 || len(lists[0].Entries) < 2 || !contains(lists[0].Err, "changed 5 times while it was read") {
		t.Errorf("it never rests: %+v, %v", lists, err)
	}
}

// A descriptor that is found by two symbols, or by a symbol and a search, is one list.
func TestReadTwice(t *testing.T) {
	memory := memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x4000, 16), 0x4000: []byte(elfImage)}
	lists, err := Read(&Space{Machine: x86_64, Memory: memory,
		Symbols:  func(string) iter.Seq[uint64] { return slices.Values([]uint64{0x1000, 0x1000}) },
		Writable: []Range{{0x1000, 0x1018}}})
	if err != nil || len(lists) != 1 || lists[0].Scanned {
		t.Errorf("%+v, %v", lists, err)
	}
	if lists, err := Read(&Space{Machine: x86_64, Memory: memory, Writable: []Range{{0x1000, 0x1018}}, Limits: Limits{Scan: 20}}); !contains(err, "stopped at its limit of 0 bytes, at 0x1000") {
		t.Errorf("%+v, %v", lists, err)
	}
}

// piece is memory from 0x1000 on. It is not a map, because the fuzzer needs the same path
// each time.
type piece []byte

func (m piece) ReadMemory(p []byte, addr uint64) error {
	if at := addr - 0x1000; at < uint64(len(m)) && uint64(len(p)) <= uint64(len(m))-at {
		copy(p, m[at:])
		return nil
	}
	return fmt.Errorf("memory %#x: not mapped", addr)
}

// A stamp differs after each change of a list, also if the program uses the memory of an entry again.
func TestStamp(t *testing.T) {
	list := func(action, relevant, first uint64, image string) memory {
		return memory{0x1000: le64(1|action<<32, relevant, first), 0x2000: le64(0, 0, 0x3000, uint64(len(image))), 0x3000: []byte(image)}
	}
	before := Stamp(x86_64, list(1, 0x2000, 0x2000, "one"), 0x1000)
	for _, m := range []memory{
		list(2, 0x2000, 0, "one"),          // unregistered
		list(1, 0x2000, 0x2000, "two"),     // registered at the same place
		list(1, 0x2000, 0x2000, "one+"),    // with another size
		list(1, 0x2008, 0x2000, "one"),     // another entry, which cannot be read
		{0x1000: le64(1|1<<32, 0x2000)},    // the descriptor is cut
		list(1, 0x2000, 0x2000, "one\x00"), // one byte more
	} {
		if bytes.Equal(before, Stamp(x86_64, m, 0x1000)) {
			t.Errorf("%x: the same stamp", m)
		}
	}
	if again := Stamp(x86_64, list(1, 0x2000, 0x2000, "one"), 0x1000); !bytes.Equal(before, again) || len(before) == 0 {
		t.Errorf("stamps %x and %x of the same list", before, again)
	}
	huge := memory{0x1000: le64(1, 0, 0x2000), 0x2000: le64(0, 0, 0x3000, 1<<63), 0x3000: make([]byte, maxStamp)}
	if n := len(Stamp(x86_64, huge, 0x1000)); n < maxStamp || n > 2*maxStamp {
		t.Errorf("a stamp of %d bytes", n)
	}
}

// Reading ends for any memory, and each entry has an image or an error.
func FuzzRead(f *testing.F) {
	machines := []*arch.Machine{x86_64, i386, arm32, x32, s390x, ppc32, m68k}
	for _, l := range layouts {
		all := make([]byte, 0x4010)
		for at, s := range map[int]string{0: l.descriptor, 0x1000: l.first, 0x2000: l.second, 0x3000: elfImage, 0x4000: elfImage} {
			copy(all[at:], s)
		}
		f.Add(all, byte(slices.Index(machines, l.machine)))
	}
	f.Fuzz(func(t *testing.T, data []byte, machine byte) {
		s := space(machines[int(machine)%len(machines)], nil)
		s.Memory = piece(data)
		s.Writable = []Range{{0x1000, 0x1000 + uint64(len(data))}}
		lists, err := Read(s)
		if err != nil {
			t.Fatal(err)
		}
		Stamp(s.Machine, s.Memory, 0x1000)
		for _, l := range lists {
			if len(l.Entries) == 0 && l.Err == nil {
				t.Error("a list without entries")
			}
			for _, e := range l.Entries {
				if (e.Image == nil) == (e.Err == nil) || e.Image != nil && uint64(len(e.Image)) != e.Size {
					t.Errorf("an image or an error: %+v", e)
				}
			}
		}
	})
}
