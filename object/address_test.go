// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

// TestReadMemoryWithoutSegments checks a file with sections only: the bytes of SHT_NOBITS
// are zero in data, and unknown in code.
func TestReadMemoryWithoutSegments(t *testing.T) {
	var b bytes.Buffer
	header := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1,
		Shoff: 64, Ehsize: 64, Shentsize: 64, Shnum: 4,
	}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	sections := []any{
		header,
		elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_NOBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: 0x1000, Size: 0x100},
		elf.Section64{Type: uint32(elf.SHT_NOBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_WRITE), Addr: 0x2000, Size: 0x100},
		elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC), Addr: 0x3000, Off: 0, Size: 0x10},
	}
	for _, s := range sections {
		if err := binary.Write(&b, binary.LittleEndian, s); err != nil {
			t.Fatal(err)
		}
	}
	f, err := NewFile(b.Bytes(), "sections")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		address uint64
		want    string // "" if it cannot be read
	}{{0x1000, ""}, {0x2000, "\x00\x00\x00\x00"}, {0x3000, "\x7fELF"}} {
		var p [4]byte
		err := f.ReadMemory(p[:], test.address)
		if test.want == "" && err == nil || test.want != "" && (err != nil || string(p[:]) != test.want) {
			t.Errorf("ReadMemory(%#x) = %q, %v; want %q", test.address, p, err, test.want)
		}
	}
}
