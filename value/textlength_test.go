// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
)

// lengthAt is memory in which every word is the length of a string.
type lengthAt uint64

func (l lengthAt) ReadMemory(p []byte, _ uint64) error {
	copy(p, binary.LittleEndian.AppendUint64(nil, uint64(l)))
	return nil
}

// A length that no string has makes it unknown, not empty: also one with its top bit set.
func TestTextLength(t *testing.T) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for length, known := range map[lengthAt]bool{3: true, 0: true, 1 << 41: false, 1<<63 + 5: false, 1<<64 - 1: false} {
		info := &Info{machine: m}
		char := &Type{machine: m, kind: Char, size: 1, sized: true, ready: true, language: Fortran}
		text := &Type{machine: m, info: info, kind: Text, elem: char, count: 8, ready: true, language: Fortran,
			dynamic: []dynamic{{stringLength, attribute{kind: attributeConstant, number: 0x1000}}}}
		v := At(text, 0x2000, Static(length, info, 0)).settled(nil)
		got := (&Printer{}).Text(v)
		if v.typ.sized != known || !known && strings.Contains(got, "''") {
			t.Errorf("length %#x: %s, known %t", uint64(length), got, v.typ.sized)
		}
	}
}
