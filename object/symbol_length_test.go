// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
)

// Long names of symbols are cut, so that total overlapping names do not each cost the memory
// and time of the string table.
func TestLongSymbolNames(t *testing.T) {
	longest := strings.Repeat("a", printable.MaxName)
	table := symbolTable{names: []byte("\x00short\x00" + longest + "\x00b" + longest + "\x00")}
	for offset, want := range map[int]string{
		0: "", 1: "short", 3: "ort", 7: longest, 8: longest[1:], 8 + len(longest): "b" + longest[1:] + "…",
		9 + len(longest): longest, len(table.names): "", 1 << 30: "",
	} {
		if got := table.symbol(&rawSymbol{name: uint32(offset)}).Name; got != want {
			t.Errorf("at %d: a name of %d bytes, want %d", offset, len(got), len(want))
		}
	}
	total := 0
	table.names = []byte(strings.Repeat("c", 1<<20) + "\x00")
	for offset := range uint32(1000) {
		total += len(table.symbol(&rawSymbol{name: offset}).Name)
	}
	if most := 1000 * (printable.MaxName + len("…")); total > most {
		t.Errorf("1,000 names take %d bytes, want at most %d", total, most)
	}
}

// The names of a hostile table, which all end in the same way, cost little more than the table.
func TestSharedSymbolNames(t *testing.T) {
	const count = 1 << 16
	names := append([]byte{0}, bytes.Repeat([]byte{'a'}, count+printable.MaxName)...)
	names = append(names, 0)
	symbols := make([]byte, elf.Sym64Size, (count+1)*elf.Sym64Size)
	for i := range uint32(count) {
		symbols = binary.LittleEndian.AppendUint32(symbols, 1+i)
		symbols = append(symbols, byte(elf.STT_FUNC), 0, byte(elf.SHN_ABS&0xff), byte(elf.SHN_ABS>>8))
		symbols = binary.LittleEndian.AppendUint64(symbols, uint64(i))
		symbols = binary.LittleEndian.AppendUint64(symbols, 1)
	}
	data := overlapping(".symtab", elf.SHT_SYMTAB, 2)
	section := func(i int, link uint32, content []byte) {
		s := data[ehdr64+shdr64*i:]
		binary.LittleEndian.PutUint64(s[24:], uint64(len(data)))
		binary.LittleEndian.PutUint64(s[32:], uint64(len(content)))
		binary.LittleEndian.PutUint32(s[40:], link)
		data = append(data, content...)
	}
	section(2, 3, symbols)
	section(3, 0, names)
	binary.LittleEndian.PutUint32(data[ehdr64+shdr64*3+4:], uint32(elf.SHT_STRTAB))
	f, err := NewFile(data, "shared")
	if err != nil {
		t.Fatal(err)
	}
	number, total, first := 0, 0, 0
	for s := range f.Symbols() {
		if number++; number == 1 {
			first = len(s.Name)
		}
		total += len(s.Name)
	}
	if number != count || first < printable.MaxName || total > 2*maxShared*len(names)+count*2*maxSharing {
		t.Errorf("%d symbols with names of %d bytes, the first of %d", number, total, first)
	}
}
