// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	i386  = arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	s390x = arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
)

// memory contains bytes by address.
type memory map[uint64][]byte

var errUnmapped = errors.New("nothing is mapped there")

func (m memory) ReadMemory(p []byte, addr uint64) error {
	for at, b := range m {
		if addr >= at && addr-at <= uint64(len(b)) && uint64(len(p)) <= uint64(len(b))-(addr-at) {
			copy(p, b[addr-at:])
			return nil
		}
	}
	return fmt.Errorf("%d bytes at %#x: %w", len(p), addr, errUnmapped)
}

func unhex(tb testing.TB, digits string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// The layouts of libunwind-dynamic.h, field by field.
func TestLayout(t *testing.T) {
	list := &region.Region{Count: 7, Ops: []region.Op{region.Add(3, 7, -16), {Tag: region.TagSpillSPRel, Predicate: 1, Register: 6, When: -1, Value: 8}}}
	list.Next = &region.Region{Count: -2}
	dynamic := libunwind.Info{
		Start: 0x1111, End: 0x2222, GP: 0x3333, LoadOffset: 0x4444, Format: libunwind.Dynamic,
		Procedure: &region.Procedure{Name: "f", Start: 0x1111, End: 0x2222, Handler: 0x5555, Flags: 6, Regions: list},
	}
	table := libunwind.Info{
		Start: 0x1111, End: 0x2222, Format: libunwind.IPOffset,
		Table: &region.Table{SegmentBase: 0x7777, Entries: []region.TableEntry{{Start: -1, FDE: 0x10}, {Start: 2, FDE: -3}}},
	}
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		info    libunwind.Info
		want    string // at 0x8000
	}{
		{"proc-info", amd64, dynamic, `
			66 00 0000 0000 0000
			0000000000000000 feffffff 00000000
			0880000000000000 07000000 02000000
			 04 00 0700 03000000 f0ffffffffffffff
			 03 01 0600 ffffffff 0800000000000000
			0000000000000000 0000000000000000 1111000000000000 2222000000000000
			3333000000000000 00000000 00000000 4444000000000000
			0080000000000000 5555000000000000 06000000 00000000 1880000000000000`},
		{"proc-info", i386, dynamic, `
			66 00 0000 0000 0000
			00000000 feffffff 00000000 00000000
			08800000 07000000 02000000
			 04 00 0700 03000000 f0ffffff
			 03 01 0600 ffffffff 08000000 00000000
			00000000 00000000 11110000 22220000 33330000 00000000 00000000 44440000
			00800000 55550000 06000000 00000000 18800000`},
		{"remote table", amd64, table, `
			ffffffff 10000000 02000000 fdffffff
			0000000000000000 0000000000000000 1111000000000000 2222000000000000
			0000000000000000 04000000 00000000 0000000000000000
			0000000000000000 7777000000000000 0200000000000000 0080000000000000`},
		{"remote table", i386, table, `
			ffffffff 10000000 02000000 fdffffff
			00000000 00000000 11110000 22220000 00000000 04000000 00000000 00000000
			00000000 77770000 04000000 00800000 00000000`},
		{"remote table", s390x, table, `
			ffffffff 00000010 00000002 fffffffd
			0000000000000000 0000000000000000 0000000000001111 0000000000002222
			0000000000000000 00000004 00000000 0000000000000000
			0000000000000000 0000000000007777 0000000000000002 0000000000008000`},
	} {
		t.Run(test.machine.Name+" "+test.name, func(t *testing.T) {
			e := libunwind.Encoder{Machine: test.machine, Address: 0x8000}
			at, err := e.Info(&test.info)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := hex.EncodeToString(e.Data), hex.EncodeToString(unhex(t, test.want)); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			head := e.List(1, 5, at)
			l, err := libunwind.Read(test.machine, memory{0x8000: e.Data}, head)
			if err != nil || l.Err != nil || len(l.Infos) != 1 || l.Version != 1 || l.Generation != 5 {
				t.Fatalf("read back: %+v, %v", l, err)
			}
			want := test.info
			want.Address = at
			if want.Table != nil {
				copied := *want.Table
				copied.Address, copied.Words = 0x8000, uint64(16/test.machine.AddressSize)
				want.Table = &copied
			}
			if got := l.Infos[0]; !reflect.DeepEqual(got, want) {
				t.Errorf("read back %+v, want %+v", got, want)
			}
		})
	}
}

func TestSharedRegions(t *testing.T) {
	tail := &region.Region{Count: -1, Ops: []region.Op{region.PopFrames(0, 1)}}
	a := region.List(&region.Region{Count: 1}, tail)
	b := region.List(&region.Region{Count: 2}, &region.Region{Count: 3}, tail)
	e := libunwind.Encoder{Machine: amd64, Address: 0x8000}
	var infos []uint64
	for _, r := range []*region.Region{a, b, a, nil} {
		at, err := e.Info(&libunwind.Info{Start: 1, End: 9, Procedure: &region.Procedure{Regions: r}})
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, at)
	}
	head := e.List(1, 1, infos...)
	l, err := libunwind.Read(amd64, memory{0x8000: e.Data}, head)
	if err != nil || l.Err != nil || len(l.Infos) != 4 {
		t.Fatalf("%+v, %v", l, err)
	}
	first, second := l.Infos[0].Procedure.Regions, l.Infos[1].Procedure.Regions
	if first.Next != second.Next.Next || first != l.Infos[2].Procedure.Regions || first.Next.Count != -1 || l.Infos[3].Procedure.Regions != nil {
		t.Errorf("the tail is not shared")
	}
}

func TestEncoderErrors(t *testing.T) {
	loop := &region.Region{Count: 1}
	loop.Next = loop
	for name, i := range map[string]libunwind.Info{
		"loop":           {Procedure: &region.Procedure{Regions: loop}},
		"NUL":            {Procedure: &region.Procedure{Name: "a\x00b"}},
		"no description": {Format: libunwind.RemoteTable, Procedure: &region.Procedure{}},
		"no procedure":   {Table: &region.Table{}},
	} {
		e := libunwind.Encoder{Machine: amd64}
		if _, err := e.Info(&i); !errors.Is(err, libunwind.ErrInfo) || len(e.Data) != 0 {
			t.Errorf("%s: %v, and %d bytes were laid out", name, err, len(e.Data))
		}
	}
}

// changing is memory with a list that changes after each read of its head.
type changing struct {
	memory
	head  uint64
	times int
}

func (c *changing) ReadMemory(p []byte, addr uint64) error {
	err := c.memory.ReadMemory(p, addr)
	if addr == c.head && c.times > 0 {
		c.times--
		for at, b := range c.memory {
			g := b[addr-at+4:]
			binary.LittleEndian.PutUint32(g, binary.LittleEndian.Uint32(g)+1)
		}
	}
	return err
}

func TestGeneration(t *testing.T) {
	e := libunwind.Encoder{Machine: amd64, Address: 0x8000}
	at, err := e.Info(&libunwind.Info{Start: 1, End: 9, Procedure: &region.Procedure{Name: "f"}})
	if err != nil {
		t.Fatal(err)
	}
	head := e.List(1, 100, at)
	for _, test := range []struct {
		times      int
		generation uint32 // 0: an error
	}{{0, 100}, {1, 101}, {5, 105}, {30, 130}, {31, 0}, {1000, 0}} {
		m := &changing{memory{0x8000: append([]byte(nil), e.Data...)}, head, test.times}
		l, err := libunwind.Read(amd64, m, head)
		switch {
		case test.generation == 0:
			if l != nil || !errors.Is(err, libunwind.ErrChanging) {
				t.Errorf("%d changes: got %v, %v", test.times, l, err)
			}
		case err != nil || l.Generation != test.generation || len(l.Infos) != 1:
			t.Errorf("%d changes: got %+v, %v, want generation %d", test.times, l, err, test.generation)
		}
	}
	m := memory{0x8000: e.Data}
	if v, g, err := libunwind.Generation(amd64, m, head); v != 1 || g != 100 || err != nil {
		t.Errorf("Generation: %d, %d, %v", v, g, err)
	}
	if _, _, err := libunwind.Generation(amd64, m, 0x10); !errors.Is(err, libunwind.ErrList) || !errors.Is(err, errUnmapped) {
		t.Errorf("Generation of nothing: %v", err)
	}
}

// Lists with invalid structures.
func TestHostile(t *testing.T) {
	const (
		list, info, info2, regions, regions2, name = 0x000, 0x010, 0x100, 0x200, 0x300, 0x400
		base                                       = 0x8000
	)
	put := func(b []byte, at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
	for _, test := range []struct {
		test   string
		change func(b []byte)
		infos  int
		text   string // of the error of the list or its first info
	}{
		{"all is well", func([]byte) {}, 2, ""},
		{"an entry follows itself", func(b []byte) { put(b, info, base+info) }, 1, "the list is circular at the entry at 0x8010"},
		{"the list is a ring", func(b []byte) { put(b, info2, base+info) }, 2, "the list is circular at the entry at 0x8010"},
		{"the list leads nowhere", func(b []byte) { put(b, info2, 0x10) }, 2, "the entry at 0x10: "},
		{"an unknown format", func(b []byte) { b[info+40] = 77 }, 2, "format Format(77)"},
		{"it ends before it starts", func(b []byte) { put(b, info+24, 5) }, 2, "[0x1000, 0x5)"},
		{"the name leads nowhere", func(b []byte) { put(b, info+56, 0x10) }, 2, "a name at 0x10"},
		{"the name has no end", func(b []byte) { put(b, info+56, base+name+1) }, 2, "a name at"},
		{"the regions lead nowhere", func(b []byte) { put(b, info+80, 0x10) }, 2, "a region at 0x10"},
		{"a region follows itself", func(b []byte) { put(b, regions, base+regions) }, 2, "the list of regions is circular at 0x8200"},
		{"regions are a ring", func(b []byte) { put(b, regions2, base+regions) }, 2, "the list of regions is circular at 0x8200"},
		{"too many operations", func(b []byte) {
			put(b, regions, 0)
			put(b, regions+8, 0xffffffff_00000001)
			for i := regions + 16; i <= name; i += 16 {
				b[i] = byte(region.TagAdd)
			}
		}, 2, "an operation at 0x8440"},
		{"too many operations, but a stop", func(b []byte) {
			put(b, regions+8, 0xffffffff_00000001)
			b[regions+32] = 0
		}, 2, ""},
		{"a table of any size", func(b []byte) {
			b[info+40] = 2
			put(b, info+72, 1<<60)
		}, 2, "a table of 1152921504606846976 words"},
		{"a table that leads nowhere", func(b []byte) {
			b[info+40] = 4
			put(b, info+72, 1000)
		}, 2, "a table at"},
	} {
		t.Run(test.test, func(t *testing.T) {
			b := make([]byte, 0x440)
			for i := range b[name:] {
				b[name+i] = 'x'
			}
			b[name] = 0
			put(b, list+8, base+info)
			for _, at := range []int{info, info2} {
				put(b, at+16, 0x1000)
				put(b, at+24, 0x2000)
				put(b, at+56, base+name)
				put(b, at+80, base+regions)
			}
			put(b, info, base+info2)
			put(b, regions, base+regions2)
			put(b, regions+8, 2<<32|1)
			for i := regions + 16; i < regions2; i += 16 {
				b[i] = byte(region.TagAdd)
			}
			test.change(b)
			l, err := libunwind.Read(amd64, memory{base: b}, base+list)
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Infos) != test.infos {
				t.Errorf("%d infos, want %d", len(l.Infos), test.infos)
			}
			bad := errors.Join(l.Err, l.Infos[0].Err)
			if test.text == "" {
				if bad != nil {
					t.Error(bad)
				}
				return
			}
			if !errors.Is(bad, libunwind.ErrList) || !strings.Contains(bad.Error(), test.text) {
				t.Errorf("got %v, want it to have %q", bad, test.text)
			}
			for _, i := range l.Infos {
				if i.Procedure == nil {
					continue
				}
				n := 0
				for r := i.Procedure.Regions; r != nil; r = r.Next {
					if n++; n > 100 {
						t.Fatal("a list of regions without an end")
					}
				}
				if strings.Contains(test.text, "list of regions is circular") && i.Err == nil {
					t.Error("an info whose regions are shared with a bad one has no error")
				}
			}
		})
	}
}

// reading counts the bytes that are read.
type reading struct {
	bytes []byte
	n     int
}

// ReadMemory returns the same bytes at all addresses.
func (m *reading) ReadMemory(p []byte, addr uint64) error {
	if len(m.bytes) == 0 {
		return errUnmapped
	}
	m.n += len(p)
	for i := range p {
		p[i] = m.bytes[(addr+uint64(i))%uint64(len(m.bytes))]
	}
	return nil
}

// FuzzRead reads a list from memory with the same bytes everywhere, which has no end,
// and from memory that contains them once.
func FuzzRead(f *testing.F) {
	e := libunwind.Encoder{Machine: amd64, Address: 0}
	e.Data = make([]byte, 8) // no entry is at 0
	a, _ := e.Info(&libunwind.Info{Start: 1, End: 9, Procedure: &region.Procedure{Name: "f", Regions: &region.Region{Ops: []region.Op{region.Stop()}}}})
	b, _ := e.Info(&libunwind.Info{Start: 1, End: 9, Format: libunwind.RemoteTable, Table: &region.Table{Entries: make([]region.TableEntry, 3)}})
	head := e.List(1, 1, a, b)
	f.Add(e.Data, head, false)
	f.Add(e.Data, head, true)
	f.Fuzz(func(t *testing.T, data []byte, head uint64, everywhere bool) {
		for _, m := range []*arch.Machine{amd64, i386} {
			var l *libunwind.List
			var err error
			if counted := (&reading{bytes: data}); everywhere {
				l, err = libunwind.Read(m, counted, head)
				if counted.n > 128<<20 {
					t.Fatalf("read %d bytes", counted.n)
				}
			} else {
				l, err = libunwind.Read(m, memory{0: data}, head)
			}
			if (err == nil) == (l == nil) {
				t.Fatalf("both or neither: %v, %v", l, err)
			}
			if err != nil {
				continue
			}
			procedures := make([]*region.Procedure, 0, len(l.Infos))
			for i := range l.Infos {
				info := &l.Infos[i]
				if (info.Procedure == nil) == (info.Table == nil) && info.Err == nil {
					t.Fatalf("%+v has no error", info)
				}
				if info.Procedure != nil && len(procedures) < 16 {
					procedures = append(procedures, info.Procedure)
				}
				if info.Table != nil && i < 16 {
					_, _ = info.Section(m, memory{0: data})
				}
			}
			for _, p := range procedures {
				program, err := p.Program(m, procedures...)
				if (err == nil) == (program == nil) {
					t.Fatalf("both or neither: %v, %v", program, err)
				}
			}
		}
	})
}

// FuzzRoundTrip writes the result of Read for any bytes, and reads it again.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00some bytes that are an operation or two, and more of them"))
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() uint64 {
			var b [8]byte
			data = data[copy(b[:], data):]
			return binary.LittleEndian.Uint64(b[:])
		}
		var tail *region.Region
		e := libunwind.Encoder{Machine: amd64, Address: 0x1000}
		var want []libunwind.Info
		var at []uint64
		for n := 0; len(data) > 0 && n < 8; n++ {
			i := libunwind.Info{Start: next() >> 1, GP: next(), LoadOffset: next()}
			i.End = i.Start + next()>>2
			if next()&1 == 0 {
				first := &region.Region{Count: int32(next()), Next: tail}
				for range next() % 4 {
					w := next()
					first.Ops = append(first.Ops, region.Op{Tag: region.Tag(w%255 + 1), Predicate: int8(w >> 8), Register: int16(w >> 16), When: int32(w >> 32), Value: next()})
				}
				tail = first
				i.Procedure = &region.Procedure{Name: strings.Repeat("n", int(next()%200)), Start: i.Start, End: i.End, Handler: next(), Flags: uint32(next()), Regions: first}
			} else {
				i.Format = libunwind.RemoteTable
				i.Table = &region.Table{Name: strings.Repeat("t", int(next()%10)), SegmentBase: next()}
				for range next() % 300 {
					w := next()
					i.Table.Entries = append(i.Table.Entries, region.TableEntry{Start: int32(w), FDE: int32(w >> 32)})
				}
			}
			address, err := e.Info(&i)
			if err != nil {
				t.Fatal(err)
			}
			i.Address = address
			want, at = append(want, i), append(at, address)
		}
		head := e.List(7, 9, at...)
		l, err := libunwind.Read(amd64, memory{0x1000: e.Data}, head)
		if err != nil || l.Err != nil || len(l.Infos) != len(want) {
			t.Fatalf("%+v, %v", l, err)
		}
		for n, got := range l.Infos {
			if got.Table != nil {
				got.Table.Address, got.Table.Words = 0, 0
			}
			if !reflect.DeepEqual(got, want[n]) {
				t.Errorf("got %+v, want %+v", got, want[n])
			}
		}
	})
}
