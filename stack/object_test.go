// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// A part of a program's code that is mapped a second time, between memory without a file, has
// a bias of its own: V8 keeps its built-in functions there. Code with another bias belongs to
// the image if it is in the order of the file.
func TestCodeMappedTwice(t *testing.T) {
	// A program with two segments of code and one of data.
	path := filepath.Join(t.TempDir(), "program")
	data := make([]byte, 0x5000)
	header := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 3}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	encode(t, data, header)
	for i, p := range []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: 5, Off: 0, Vaddr: 0, Filesz: 0x3000, Memsz: 0x3000, Align: 0x1000},
		{Type: uint32(elf.PT_LOAD), Flags: 5, Off: 0x3000, Vaddr: 0x4000, Filesz: 0x1000, Memsz: 0x1000, Align: 0x1000},
		{Type: uint32(elf.PT_LOAD), Flags: 6, Off: 0x4000, Vaddr: 0x6000, Filesz: 0x1000, Memsz: 0x1000, Align: 0x1000},
	} {
		encode(t, data[64+56*i:], p)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	code := func(start, end, offset uint64) snapshot.Mapping {
		return snapshot.Mapping{Start: start, End: end, Offset: offset, Readable: true, Executable: true, Inode: 1, Path: path}
	}
	s := &snapshot.Snapshot{Machine: amd64, Mappings: []snapshot.Mapping{
		code(0x100000, 0x103000, 0),
		code(0x104000, 0x105000, 0x3000),
		{Start: 0x106000, End: 0x107000, Offset: 0x4000, Readable: true, Writable: true, Inode: 1, Path: path},
		{Start: 0x70000000, End: 0x70001000, Readable: true, Executable: true},
		code(0x70001000, 0x70002000, 0x2000),
		{Start: 0x70002000, End: 0x70003000, Readable: true, Executable: true},
	}, Open: func(m *snapshot.Mapping) (*os.File, error) { return os.Open(m.Path) }}
	objects := stack.NewObjects(s)
	defer objects.Close()
	var found []*stack.Object
	for _, test := range []struct{ pc, bias uint64 }{
		{0x102010, 0x100000}, {0x104010, 0x100000}, {0x70001010, 0x70001000 - 0x2000},
	} {
		m, _ := objects.Modules.Find(test.pc)
		o := objects.Find(m, test.pc)
		if o == nil {
			t.Fatalf("%#x is in no object", test.pc)
		}
		if _, err := o.File(); err != nil || o.Bias != test.bias || o.Name != path {
			t.Errorf("%#x is in %s with bias %#x, expected %#x; %v", test.pc, o.Name, o.Bias, test.bias, err)
		}
		found = append(found, o)
	}
	if found[0] != found[1] || found[0] == found[2] {
		t.Errorf("the image is in %p and %p, the copy in %p", found[0], found[1], found[2])
	}
}

// An image in memory has its header before its code. Later mappings, of which a process can
// have any number, are not tried.
func TestImageIsTriedOnce(t *testing.T) {
	const path = "/gone"
	mappings := []snapshot.Mapping{{Start: 0x10000, End: 0x11000, Readable: true, Inode: 1, Path: path}}
	for i := uint64(1); i < 1000; i++ {
		mappings = append(mappings, snapshot.Mapping{Start: 0x10000 + i<<12, End: 0x11000 + i<<12, Readable: true, Executable: true, Inode: 1, Path: path})
	}
	m := &noted{addresses: make(map[uint64]bool)}
	s := &snapshot.Snapshot{Machine: amd64, Mappings: mappings, Memory: m}
	objects := stack.NewObjects(s)
	defer objects.Close()
	module, _ := objects.Modules.Find(0x11000)
	if o := objects.Object(module); o == nil || len(o.Mappings) != len(mappings) {
		t.Fatalf("the mappings are not one object's: %+v", o)
	} else if _, err := o.File(); err == nil {
		t.Error("there is an image in memory that holds none")
	}
	if !m.addresses[0x10000] || !m.addresses[0x11000] || len(m.addresses) != 2 {
		t.Errorf("headers were looked for at %d addresses, expected 2", len(m.addresses))
	}
}

// noted is memory without content, which records the addresses of reads.
type noted struct{ addresses map[uint64]bool }

func (m *noted) ReadMemory(p []byte, addr uint64) error {
	m.addresses[addr&^0xfff] = true
	clear(p)
	return nil
}

// encode writes a part of a file.
func encode(t *testing.T, at []byte, v any) {
	t.Helper()
	if _, err := binary.Encode(at, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
}
