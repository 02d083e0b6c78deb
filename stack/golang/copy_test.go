// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

// An object is searched for a Go runtime unless its headers exclude one.
func TestHoldsThreadLocals(t *testing.T) {
	headers := func(kind elf.Type, types ...elf.ProgType) []byte {
		h := elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)},
			Type: uint16(kind), Phoff: 64, Phentsize: 56, Phnum: uint16(len(types))}
		var b bytes.Buffer
		binary.Write(&b, binary.LittleEndian, &h)
		for _, p := range types {
			binary.Write(&b, binary.LittleEndian, &elf.Prog64{Type: uint32(p)})
		}
		return b.Bytes()
	}
	library := headers(elf.ET_DYN, elf.PT_LOAD, elf.PT_DYNAMIC)
	wide := bytes.Clone(library)
	wide[elf.EI_CLASS] = byte(elf.ELFCLASS32)
	far := bytes.Clone(library)
	binary.LittleEndian.PutUint64(far[32:], 1<<63) // e_phoff
	for _, tt := range []struct {
		name    string
		headers []byte
		want    bool
	}{
		{"library", library, false},
		{"library without segments", headers(elf.ET_DYN), false},
		{"library with thread-local storage", headers(elf.ET_DYN, elf.PT_LOAD, elf.PT_TLS), true},
		{"program", headers(elf.ET_EXEC, elf.PT_LOAD), true},
		{"position-independent program", headers(elf.ET_DYN, elf.PT_INTERP, elf.PT_LOAD), true},
		{"of 32 bits", wide, true},
		{"cut", library[:len(library)-1], true},
		{"headers elsewhere", far, true},
		{"no headers", library[:10], true},
		{"unreadable", nil, true},
	} {
		if got := holdsThreadLocals(tt.headers); got != tt.want {
			t.Errorf("%s: %v, expected %v", tt.name, got, tt.want)
		}
	}
}
