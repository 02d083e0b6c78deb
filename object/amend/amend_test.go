// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// program returns the table of push %rbx; nop; pop %rbx; ret.
func program(t testing.TB) *cfi.Program {
	t.Helper()
	b := cfi.NewBuilder(cfi.EntryCIE(amd64))
	p, err := b.At(1).DefCFAOffset(16).Offset(3, -16).At(3).DefCFAOffset(8).Restore(3).Program()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// made is a section of a file that build writes.
type made struct {
	name    string
	header  section
	content []byte
}

const code = "\x53\x90\x5b\xc3"

// build returns an ELF file with an empty section 0, and the name table at the end.
func build(typ elf.Type, sections []made) []byte {
	e := &editor{sections: make([]section, 1, len(sections)+2)}
	copy(e.header[:], elf.ELFMAG+"\x02\x01\x01")
	little.PutUint16(e.header[16:], uint16(typ))
	little.PutUint16(e.header[18:], uint16(elf.EM_X86_64))
	little.PutUint32(e.header[20:], 1)
	little.PutUint16(e.header[52:], headerSize)
	little.PutUint16(e.header[headerShnum-2:], sectionSize)
	e.data = e.header[:]
	names := []byte{0}
	for _, m := range append(sections, made{name: ".shstrtab", header: section{typ: elf.SHT_STRTAB}}) {
		m.header.name = uint32(len(names))
		names = append(append(names, m.name...), 0)
		if m.header.typ == 0 {
			m.header.typ = elf.SHT_PROGBITS
		}
		if m.content != nil {
			m.header.set(m.content)
		}
		e.sections = append(e.sections, m.header)
	}
	e.sections[len(sections)+1].set(names)
	if n := len(sections) + 1; n < int(elf.SHN_LORESERVE) {
		little.PutUint16(e.header[headerShstrndx:], uint16(n))
	} else {
		little.PutUint16(e.header[headerShstrndx:], uint16(elf.SHN_XINDEX))
		e.sections[0].link = uint32(n)
	}
	var out bytes.Buffer
	if err := e.write(&out); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func symbol(info byte, section int, value uint64) []byte {
	var b [symbolSize]byte
	b[4] = info
	little.PutUint16(b[6:], uint16(section))
	little.PutUint64(b[8:], value)
	return b[:]
}

func relocation(at uint64, symbol, typ uint32) []byte {
	b := little.AppendUint64(nil, at)
	return append(little.AppendUint64(b, uint64(symbol)<<32|uint64(typ)), make([]byte, 8)...)
}

const text = elf.SHF_ALLOC | elf.SHF_EXECINSTR

// objectSections are the sections of an object file with two functions in sections of their own,
// and everything that refers to symbols by number.
func objectSections() []made {
	global := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)
	local := elf.ST_INFO(elf.STB_LOCAL, elf.STT_SECTION)
	return []made{
		1: {name: ".text.f", header: section{flags: text, align: 16}, content: []byte("\x90\x90" + code)},
		2: {name: ".text.g", header: section{flags: text | elf.SHF_GROUP, align: 1 << 40}, content: []byte(code)},
		3: {name: ".symtab", header: section{typ: elf.SHT_SYMTAB, link: 4, info: 2, align: 8, entry: symbolSize},
			content: slices.Concat(symbol(0, 0, 0), symbol(local, 1, 0), symbol(global, 1, 2), symbol(global, 2, 0))},
		4: {name: ".strtab", header: section{typ: elf.SHT_STRTAB}, content: make([]byte, 8)},
		5: {name: ".rela.text.f", header: section{typ: elf.SHT_RELA, flags: elf.SHF_INFO_LINK, link: 3, info: 1, align: 8, entry: relocationSize},
			content: slices.Concat(relocation(0, 1, 1), relocation(0, 2, 1), relocation(1, 3, 1))},
		6:  {name: ".group", header: section{typ: elf.SHT_GROUP, link: 3, info: 3, entry: 4}, content: []byte{1, 0, 0, 0, 2, 0, 0, 0}},
		7:  {name: ".llvm_addrsig", header: section{typ: shtLLVMAddressSignificant, link: 3}, content: []byte{1, 2, 3}},
		8:  {name: ".symtab_shndx", header: section{typ: elf.SHT_SYMTAB_SHNDX, link: 3, entry: 4}, content: bytes.Repeat([]byte{9, 0, 0, 0}, 4)},
		9:  {name: ".llvm.call-graph-profile", header: section{typ: shtLLVMCallGraphProfile, link: 3}, content: make([]byte, 8)},
		10: {name: ".bss", header: section{typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_WRITE, size: 1 << 50}},
	}[1:]
}

func functions(t testing.TB) []Function {
	p := program(t)
	return []Function{{Section: 1, Address: 2, Size: 4, Unwind: p}, {Section: 2, Size: 4, Unwind: p}}
}

func written(t testing.TB, data []byte, list []Function) (*object.File, []byte, error) {
	t.Helper()
	f, err := object.NewFile(data, "file")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, f, list); err != nil {
		if out.Len() > 0 {
			t.Errorf("%d bytes were written before %v", out.Len(), err)
		}
		return nil, nil, err
	}
	amended, err := object.NewFile(out.Bytes(), "amended")
	if err != nil {
		t.Fatal(err)
	}
	return amended, out.Bytes(), nil
}

// rows returns the functions that a section describes, with the number of their rows.
func rows(t testing.TB, s *cfi.Section, err error) string {
	t.Helper()
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	var b strings.Builder
	for fde := range s.FDEs() {
		var x cfi.Interpreter
		n := 0
		for range x.Rows(fde) {
			n++
		}
		fmt.Fprintf(&b, "%#x+%d: %d rows\n", fde.Start, fde.End-fde.Start, n)
	}
	return b.String()
}

func TestObject(t *testing.T) {
	data := build(elf.ET_REL, objectSections())
	f, out, err := written(t, data, functions(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.EHFrame()
	if got, want := rows(t, s, err), "0x2+4: 3 rows\n0x0+4: 3 rows\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	old, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	amended, err := elf.NewFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range old.Sections[1:] {
		n := amended.Sections[i+1]
		if n.Name != s.Name || n.Type != s.Type || n.Flags != s.Flags || n.Addralign != s.Addralign {
			t.Errorf("section %s: %+v, was %+v", s.Name, n.SectionHeader, s.SectionHeader)
		}
		if i == 2 || i >= 4 && i <= 7 || s.Name == ".shstrtab" || s.Type == elf.SHT_NOBITS {
			continue
		}
		before, _ := s.Data()
		after, _ := n.Data()
		if !bytes.Equal(before, after) {
			t.Errorf("section %s: % x, was % x", s.Name, after, before)
		}
	}
	// The symbol of section 2 has number 2, and the old symbols 2 and 3 have 3 and 4.
	content := func(i int) []byte {
		b, err := amended.Sections[i].Data()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if got := content(3); !bytes.Equal(got[2*symbolSize:3*symbolSize], symbol(elf.ST_INFO(elf.STB_LOCAL, elf.STT_SECTION), 2, 0)) || len(got) != 5*symbolSize || amended.Sections[3].Info != 3 {
		t.Errorf("symbols: % x", got)
	}
	if got, want := content(5), slices.Concat(relocation(0, 1, 1), relocation(0, 3, 1), relocation(1, 4, 1)); !bytes.Equal(got, want) {
		t.Errorf("relocations: % x, want % x", got, want)
	}
	if got := amended.Sections[6].Info; got != 4 {
		t.Errorf("signature of the group: symbol %d, want 4", got)
	}
	if got := content(7); string(got) != "\x01\x03\x04" {
		t.Errorf("significant symbols: % x", got)
	}
	if got := content(8); len(got) != 20 || got[8] != 0 || got[12] != 9 {
		t.Errorf("indexes of sections: % x", got)
	}
	// The tables of more functions join those that are there.
	if _, _, err := written(t, out, []Function{{Section: 1, Address: 0, Size: 2, Unwind: functions(t)[0].Unwind}}); !errors.Is(err, cfi.ErrRange) { // it is too short for its table
		t.Error(err)
	}
	b, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).Program()
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := written(t, out, []Function{{Section: 1, Address: 0, Size: 2, Unwind: b}})
	if err != nil {
		t.Fatal(err)
	}
	s, err = again.EHFrame()
	if got, want := rows(t, s, err), "0x2+4: 3 rows\n0x0+4: 3 rows\n0x0+2: 1 rows\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The terminator of the last object file of a program stays at the end.
func TestTerminator(t *testing.T) {
	sections := append(objectSections(), made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC, align: 4}, content: make([]byte, 4)})
	f, _, err := written(t, build(elf.ET_REL, sections), functions(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.EHFrame()
	if got, want := rows(t, s, err), "0x2+4: 3 rows\n0x0+4: 3 rows\n"; got != want || !bytes.HasSuffix(s.Data, make([]byte, 4)) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func linkedSections() []made {
	return []made{{name: ".text", header: section{flags: text, address: 0x401000}, content: []byte(code + code)}}
}

func TestLinked(t *testing.T) {
	for _, typ := range []elf.Type{elf.ET_EXEC, elf.ET_DYN} {
		data := build(typ, linkedSections())
		p := program(t)
		f, out, err := written(t, data, []Function{{Address: 0x401000, Size: 4, Unwind: p}})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out[headerSize:len(data)], data[headerSize:]) {
			t.Error("the bytes of the file have changed")
		}
		s, err := f.DebugFrame()
		if got, want := rows(t, s, err), "0x401000+4: 3 rows\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		f, _, err = written(t, out, []Function{{Address: 0x401004, Size: 4, Unwind: p}})
		if err != nil {
			t.Fatal(err)
		}
		s, err = f.DebugFrame()
		if got, want := rows(t, s, err), "0x401000+4: 3 rows\n0x401004+4: 3 rows\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		if n := len(f.Sections()); n != 4 {
			t.Errorf("%d sections, want 4", n)
		}
	}
}

// Numbers of sections that do not fit in the header are in section 0.
func TestManySections(t *testing.T) {
	for _, n := range []int{int(elf.SHN_LORESERVE) - 14, int(elf.SHN_LORESERVE) - 13, int(elf.SHN_LORESERVE) - 12, int(elf.SHN_LORESERVE) + 1} {
		data := build(elf.ET_REL, append(objectSections(), slices.Repeat([]made{{name: "x"}}, n)...))
		f, _, err := written(t, data, functions(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Sections()); got != n+14 {
			t.Errorf("%d sections, want %d", got, n+14)
		}
		s, err := f.EHFrame()
		if got, want := rows(t, s, err), "0x2+4: 3 rows\n0x0+4: 3 rows\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	// change returns an object file in which a section is other.
	change := func(i int, edit func(*made)) []byte {
		sections := objectSections()
		if i > len(sections) {
			sections = append(sections, made{})
		}
		edit(&sections[i-1])
		return build(elf.ET_REL, sections)
	}
	put := func(data []byte, at int, value uint64, size int) []byte {
		data = slices.Clone(data)
		for i := range size {
			data[at+i] = byte(value >> (8 * i))
		}
		return data
	}
	file := build(elf.ET_REL, objectSections())
	table := int(little.Uint64(file[headerShoff:]))
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"no table", put(file, headerShoff, 0, 8), "no section table"},
		{"table outside", put(file, headerShoff, 1<<40, 8), "section table at offset 0x10000000000"},
		{"wide table", put(file, headerShnum-2, 80, 2), "entries of 80 bytes, expected 64"},
		{"long table", put(file, headerShnum, 0xfeff, 2), "65279 entries, the file ends at"},
		{"no names", put(file, headerShstrndx, 0, 2), "section name table: section 0 of 12"},
		{"names outside", put(file, headerShstrndx, 12, 2), "section name table: section 12 of 12"},
		{"names of a wrong type", put(file, headerShstrndx, 3, 2), "section 3 has type SHT_SYMTAB, expected SHT_STRTAB"},
		{"a section outside", put(file, table+1*sectionSize+32, 1<<63, 8), "section 1: 0x8000000000000000 bytes at offset 0x40, the file ends at"},
		{"sections that overlap", put(put(file, table+4*sectionSize+24, 0, 8), table+4*sectionSize+32, uint64(len(file)), 8), "the sections have more bytes than the file"},
		{"program headers", put(file, headerPhnum, 1, 2), "an object file with program headers"},
		{"a core", put(file, 16, uint64(elf.ET_CORE), 2), "tables cannot be added to a file of type ET_CORE"},
		{"riscv64", put(file, 18, uint64(elf.EM_RISCV), 2), "tables cannot be added to object files for riscv64"},
		{"big-endian", put(put(file, elf.EI_DATA, 2, 1), 18, uint64(elf.EM_S390)<<8, 2), "only to 64-bit little-endian files"},
		{"no symbols", change(3, func(m *made) { m.header.typ = elf.SHT_PROGBITS }), "no symbol table"},
		{"odd symbols", change(3, func(m *made) { m.content = m.content[1:] }), "symbol table of 95 bytes"},
		{"too many local symbols", change(3, func(m *made) { m.header.info = 5 }), "5 of them local"},
		{"odd relocations", change(5, func(m *made) { m.content = m.content[1:] }), "71 bytes of relocations"},
		{"significant symbols", change(7, func(m *made) { m.content = []byte{0x80} }), "not a list of symbols"},
		{"an unknown section", change(9, func(m *made) { m.header.typ = elf.SHT_HASH }), "refers to symbols in an unknown way"},
		{"a short section", change(2, func(m *made) { m.content = m.content[1:] }), "a function of 0x4 bytes at 0x0, section .text.g has 0x3 bytes"},
		{"data", change(2, func(m *made) { m.header.flags = elf.SHF_ALLOC }), "a function of 0x4 bytes"},
		{"a cut entry", change(11, func(m *made) {
			*m = made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC}, content: []byte{5, 0, 0, 0, 1}}
		}), "section .eh_frame: damaged ELF file: the entry at offset 0x0 has 0x5 bytes"},
		{"a long entry", change(11, func(m *made) {
			*m = made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC}, content: append(bytes.Repeat([]byte{0xff}, 12), 1)}
		}), "the entry at offset 0x0 has 0xffffffffffffffff bytes"},
		{"an early terminator", change(11, func(m *made) {
			*m = made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC}, content: make([]byte, 8)}
		}), "entries after the terminator at offset 0x0"},
		{"trailing bytes", change(11, func(m *made) {
			*m = made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC}, content: []byte{1}}
		}), "1 bytes after the last entry"},
		{"other relocations", change(5, func(m *made) { m.header.info = 12 }), ""},
		{"old compression", put(build(elf.ET_DYN, append(linkedSections(), made{name: ".zdebug_frame"})), 0, 0x7f, 1), "section .zdebug_frame"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := written(t, test.data, functions(t))
			if test.want == "" && err == nil {
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, ErrDamaged) && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	for _, section := range []int{-1, 0, 12} {
		if _, _, err := written(t, file, []Function{{Section: section, Size: 4, Unwind: program(t)}}); !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	}
}

// FuzzWrite amends arbitrary files. The result can be amended again, and no other section changes.
func FuzzWrite(f *testing.F) {
	f.Add(build(elf.ET_REL, objectSections()))
	f.Add(build(elf.ET_REL, append(objectSections(), made{name: ".eh_frame", header: section{flags: elf.SHF_ALLOC}, content: make([]byte, 4)})))
	f.Add(build(elf.ET_DYN, linkedSections()))
	f.Add(build(elf.ET_EXEC, append(linkedSections(), made{name: ".debug_frame", content: make([]byte, 4)})))
	p := program(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := object.NewFile(data, "file")
		if err != nil {
			return
		}
		var list []Function
		sections := file.Sections()
		for i, s := range sections {
			if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size >= 4 && s.Size < 1<<20 && len(list) < 8 {
				list = append(list, Function{Section: i, Address: s.Address, Size: 4, Unwind: p})
			}
		}
		var out bytes.Buffer
		if Write(&out, file, list) != nil {
			return
		}
		if out.Len() > 4*len(data)+1<<16 {
			t.Errorf("%d bytes from %d", out.Len(), len(data))
		}
		amended, err := object.NewFile(out.Bytes(), "amended")
		if err != nil {
			t.Fatal(err)
		}
		after := amended.Sections()
		if len(after) < len(sections) {
			t.Fatalf("%d sections, %d before", len(after), len(sections))
		}
		for i, s := range sections {
			if s.Offset < headerSize || s.Flags&elf.SHF_EXECINSTR == 0 || s.Type != elf.SHT_PROGBITS || s.Name == ".debug_frame" || s.Name == ".eh_frame" {
				continue
			}
			before, ok := raw(data, s)
			if now, _ := raw(out.Bytes(), after[i]); ok && !bytes.Equal(now, before) {
				t.Errorf("section %d: % x, was % x", i, now, before)
			}
		}
	})
}

func raw(data []byte, s object.Section) ([]byte, bool) {
	if s.Offset > uint64(len(data)) || s.Size > uint64(len(data))-s.Offset {
		return nil, false
	}
	return data[s.Offset:][:s.Size], true
}
