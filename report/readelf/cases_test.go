// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/clewdev/clew/cfi"
)

// example is an ELF file of handmade call frame information.
type example struct {
	name string
	file []byte
	// differs is the heading in DIFFERENCES.md of the reason for a different output of
	// readelf, or "".
	differs string
	fault   error // expected of Clew
}

var (
	little = binary.LittleEndian
	big    = binary.BigEndian
)

// plainCIE is a CIE of version 1 for x86-64 without an augmentation. zrCIE is one with relative
// function starts: CFA = rsp+8, rip at CFA-8.
var (
	plainCIE = cat(1, "", 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)
	zrCIE    = cat(1, "zR", 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1)
)

// amd64 makes a file with one section.
func amd64(f *frames) []byte { return amd64Sections(f.section(0x2000)) }

func amd64Sections(s ...section) []byte {
	return elfFile(elf.EM_X86_64, elf.ELFCLASS64, little, s...)
}

// section returns the section at an address, which .debug_frame ignores.
func (f *frames) section(address uint64) section {
	if !f.eh {
		return section{name: ".debug_frame", data: f.b}
	}
	return section{name: ".eh_frame", flags: elf.SHF_ALLOC, address: address, data: f.b}
}

// function returns a .debug_frame with a CIE and one FDE with instructions.
func function(cie []byte, instructions ...byte) *frames {
	f := newDebug()
	f.fde(f.cie(cie...), cat(f.code(0x401000, 0x1000, 8), instructions)...)
	return f
}

func examples() []example {
	return append(append(append(programs(), layouts()...), encodings()...), append(machines(), containers()...)...)
}

// programs returns examples of instructions and their rows.
func programs() []example {
	every := cat(
		0x41, 0x0e, 16, 0x86, 2, // advance, def_cfa_offset, offset
		2, 0x81, 0x0d, 6, // advance_loc1, def_cfa_register
		3, 0x34, 0x12, 5, 12, 0x83, 1, // advance_loc2, offset_extended
		4, 0x10, 0, 0, 0, 0x0a, 7, 13, // advance_loc4, remember_state, undefined
		0x41, 8, 14, 9, 15, 10, // same_value, register
		0x41, 0x14, 3, 3, 0x15, 0, 0x7d, // val_offset, val_offset_sf
		0x41, 0x16, 1, 2, 0x77, 8, 0x10, 2, 2, 0x76, 0x78, // val_expression, expression
		0x41, 0x11, 4, 0x7f, 0x12, 7, 0x7e, // offset_extended_sf, def_cfa_sf
		0x41, 0x13, 0x7d, 0x2e, 24, 0x2f, 5, 4, // def_cfa_offset_sf, args_size, negative_offset_extended
		0x41, 0x0f, 3, 0x77, 8, 0x06, // def_cfa_expression
		0x41, 0x0c, 7, 0x80, 1, 6, 12, // def_cfa, restore_extended
		0x41, 0x0b, 0xc6, 0xd0, // restore_state, restore of rbp and of rip
		0x1d, 1, 0, 0, 0, 0, 0, 0, 0, // MIPS_advance_loc8
		1, 0, 0x23, 0x40, 0, 0, 0, 0, 0, 0x2d, 0, 0, // set_loc, GNU_window_save
	)
	wide := cat(
		5, 3, 0x90, 0x4e, 0x41, 5, 3, 0x80, 0x80, 0x80, 0x80, 0x02, // 10000 and 2^29 times -8
		0x41, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x07, 0x41, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f,
		0x41, 9, 3, 60, 9, 12, 200, 1, 0x41, 0x14, 3, 0xff, 0xff, 0x03,
		4, 0xff, 0xff, 0xff, 0xff,
	)
	operations := cat(3, u64(0x401000), 6, 8, 200, 9, 200, 10, 1, 0x80, 11, 1, 0x80, 12, 1, 2, 3, 0x84, 13, 1, 2, 3, 0x84,
		14, u64(math.MaxUint64), 15, u64(math.MaxUint64), 16, 0x80, 1, 17, 0x80, 0x7f)
	for op := 0x12; op <= 0x96; op++ {
		operations = append(operations, byte(op))
		switch {
		case op == 0x15, op == 0x94, op == 0x95:
			operations = append(operations, 8)
		case op == 0x23, op == 0x90, op == 0x93:
			operations = append(operations, 0x85, 1)
		case op == 0x28, op == 0x2f:
			operations = append(operations, 0xfd, 0xff)
		case op >= 0x70 && op <= 0x8f, op == 0x91:
			operations = append(operations, 0xf8, 0x7e)
		case op == 0x92:
			operations = append(operations, 0x85, 1, 0x7f)
		}
	}
	debugging := cat(0x97, 0x98, 1, 0x80, 0x99, 1, 2, 3, 0x84, 0x9b, 0x9c, 0x9d, 8, 0x80, 1, 0x9e, 3, 1, 0xff, 0, 0x9f,
		0xa1, 0x80, 1, 0xa3, 3, 0x55, 0xa3, 0, 0xa4, 5, 2, 1, 2, 0xa5, 7, 0x20, 0xa6, 4, 0x20, 0xa8, 0x20, 0xa9, 0x20,
		0xe0, 0xf0, 0xf1, 3, 1, 2, 3, 4, 0xf3, 1, 0x50, 0xf4, 5, 1, 7, 0xf5, 7, 0x20, 0xf6, 4, 0x20, 0xf7, 0x20,
		0xf9, 0x20, 0xfa, 1, 0, 0, 0, 0xfb, 0x20, 0xfc, 0x20)
	expression := func(op ...byte) []byte {
		return cat(0x10, 3, leb(len(op)), op)
	}
	reference := func(op int) []byte { return expression(byte(op), 1, 0, 0, 0, 1) }

	leak := newDebug()
	cie := leak.cie(plainCIE...)
	leak.fde(cie, cat(leak.code(0x1000, 16, 8), 0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 24)...)
	leak.fde(cie, cat(leak.code(0x2000, 16, 8), 0x41, 0x0e, 32, 0x41, 0x0b, 0x41, 0x0e, 40)...)

	initial := newDebug()
	initial.fde(initial.cie(cat(1, "", 1, 0x78, 16, 0x0f, 2, 0x77, 8, 0x90, 1)...), cat(initial.code(0x1000, 16, 8), 0x41, 0x86, 2)...)

	unnamed := &frames{order: big}
	cie = unnamed.cie(1, 0, 4, 0x7c, 65, 0x0c, 1, 0)
	unnamed.fde(cie, cat(unnamed.code(0x1000, 16, 4), 0x41, 0x9f, 1, 5, 0xbf, 0x09, 2, 0x41)...) // r31, and r1215: r31's other half
	far := function(plainCIE, cat(0x41, 5, 0xc8, 1, 2, 0x41, 0x0e, 16)...)

	return []example{
		{name: "instructions", file: amd64(function(plainCIE, every...))},
		{name: "nothing", file: amd64(function(plainCIE))},
		{name: "wide", file: amd64(function(plainCIE, wide...))},
		{name: "operations", file: amd64(function(plainCIE, expression(operations...)...))},
		{name: "operations-debugging", file: amd64(function(plainCIE, expression(debugging...)...))},
		{name: "operations-unknown", file: amd64(function(plainCIE, cat(reference(0x9a), reference(0xa0), reference(0xf2),
			reference(0xfd), reference(0xa2), reference(0xa7), reference(0x07), reference(0xff), expression())...))},
		{name: "expression-then-offset", file: amd64(function(plainCIE, 0x0f, 2, 0x77, 8, 0x41, 0x0e, 16, 0x41, 0x0d, 6, 0x41))},
		{name: "zero-advance", file: amd64(function(plainCIE, 0x40, 0x0e, 16, 2, 0, 3, 0, 0, 4, 0, 0, 0, 0, 0x0e, 24))},
		{name: "restore", file: amd64(function(cat(plainCIE, 8, 3), 0x83, 2, 0x86, 3, 0x41, 0xc3, 0xc6, 0xd0))},
		{name: "states", file: amd64(function(plainCIE,
			0x0a, 0x83, 2, 0x41, 0x0a, 0x0e, 16, 0x86, 3, 0x41, 0x0b, 0x41, 0x0b, 0x41, 7, 16))},
		{name: "no-cfa", file: amd64(function(cat(1, "", 1, 0x78, 16, 0x90, 1), 0x41, 0x83, 2))},
		{name: "register-without-offset", file: amd64(function(cat(1, "", 1, 0x78, 16, 0x0d, 7), 0x41, 0x0e, 16))},
		{name: "state-of-another-function", file: amd64(leak), differs: "States remembered by another function", fault: cfi.ErrInstruction},
		{name: "initial-expression", file: amd64(initial), differs: "A CFA expression in a CIE"},
		{name: "far-column", file: amd64(far), differs: "Columns beyond those it has names for"},
		{name: "far-column-unnamed", file: elfFile(elf.EM_PPC, elf.ELFCLASS32, big, unnamed.section(0)),
			differs: "Columns beyond those it has names for"},
		{name: "far-return-address", file: amd64(function(cat(1, "", 1, 0x78, 200, 0x0c, 7, 8))),
			differs: "Columns beyond those it has names for"},
		{name: "aspace", file: amd64(function(plainCIE, 0x41, 0x30, 7, 16, 1, 0x41, 0x31, 7, 0x7e, 2, 0x41)), differs: "DW_CFA_LLVM_def_aspace_cfa"},
	}
}

func u64(v uint64) []byte { return little.AppendUint64(nil, v) }
func u32(v uint32) []byte { return little.AppendUint32(nil, v) }

func leb(v int) []byte { return binary.AppendUvarint(nil, uint64(v)) }

// layouts returns examples of entries: versions, augmentations, order, terminators.
func layouts() []example {
	var list []example
	add := func(name string, f *frames, differs string) {
		list = append(list, example{name: name, file: amd64(f), differs: differs})
	}
	body := []byte{0x41, 0x0e, 16}

	versions := newDebug()
	for _, cie := range [][]byte{
		plainCIE,
		cat(3, "", 1, 0x78, 0x90, 0, 0x0c, 7, 8, 0x90, 1),
		cat(4, "", 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1),
		cat(5, "", 8, 0, 2, 0x7c, 16, 0x0c, 7, 8, 0x90, 1),
	} {
		versions.fde(versions.cie(cie...), cat(versions.code(0x1000, 16, 8), body)...)
	}
	add("versions", versions, "")

	narrow := newDebug()
	for _, size := range []int{4, 2} {
		cie := narrow.cie(cat(4, "", size, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)...)
		narrow.fde(cie, cat(narrow.code(0x1000, 16, size), body, 1, narrow.address(nil, 0x1008, size), 0x0e, 24)...)
	}
	add("narrow", narrow, "Addresses of another width")

	segments := func(width int, sizes ...int) *frames {
		f := newDebug()
		for _, size := range sizes {
			cie := f.cie(cat(4, "", width, size, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)...)
			f.fde(cie, cat(f.address(nil, 0x12, size), f.code(0x1000, 16, width), body)...)
			f.fde(cie, cat(f.address(nil, 0x12345678, size), f.code(0x1000, 16, width))...)
		}
		return f
	}
	add("segments-wide", segments(8, 2, 4), "Segment selectors")
	list = append(list, example{name: "segments", file: elfFile(elf.EM_386, elf.ELFCLASS32, little, segments(4, 1, 2, 4).section(0))})

	dwarf64 := newDebug()
	cie := dwarf64.cie(plainCIE...)
	dwarf64.fde(cie, cat(dwarf64.code(0x1000, 16, 8), body)...)
	dwarf64.dwarf64 = true
	wide := dwarf64.cie(plainCIE...)
	dwarf64.fde(wide, cat(dwarf64.code(0x2000, 16, 8), body)...)
	dwarf64.fde(cie, cat(dwarf64.code(0x3000, 16, 8), body)...)
	dwarf64.dwarf64 = false
	dwarf64.fde(wide, cat(dwarf64.code(0x4000, 16, 8), body)...)
	add("dwarf64", dwarf64, "")

	eh64 := newEH()
	eh64.dwarf64 = true
	cie = eh64.cie(zrCIE...)
	eh64.fde(cie, cat(eh64.code(0x1000, 16, 4), 0, body)...)
	add("dwarf64-eh", eh64, "64-bit DWARF in .eh_frame")

	add("augmentations", augmentations(body), "")

	terminators := newEH()
	cie = terminators.cie(zrCIE...)
	terminators.fde(cie, cat(terminators.code(0x1000, 16, 4), 0, body)...)
	terminators.raw(0, 0, 0, 0)
	terminators.fde(cie, cat(terminators.code(0x1000, 16, 4), 0, body)...)
	terminators.raw(make([]byte, 12)...)
	terminators.fde(terminators.cie(zrCIE...), cat(terminators.code(0x1000, 16, 4), 0, body)...)
	terminators.raw(make([]byte, 7)...)
	add("terminators", terminators, "")

	only := newEH()
	only.raw(0, 0, 0, 0)
	add("terminator-only", only, "")

	long := newEH()
	cie = long.cie(zrCIE...)
	long.raw(0, 0, 0, 0)
	at := len(long.b) + 4
	long.raw(cat(u32(0x100), u32(uint32(at-cie)), long.code(0x1000, 16, 4), 0, body, make([]byte, 0x100-4-8-1-3))...)
	add("terminator-then-zero-byte", long, "Bytes after a terminator")

	order := newDebug()
	one := order.fde(0, cat(order.code(0x1000, 16, 8), body)...)
	two := order.fde(0, cat(order.code(0x2000, 32, 8), body, 0x41, 0x86, 2, 0x41, 0xc6)...)
	cie = order.cie(plainCIE...)
	order.fixPointer(one, cie)
	order.fixPointer(two, cie)
	order.fde(cie, cat(order.code(0x3000, 16, 8), body)...)
	add("cie-after-fde", order, "A CIE after its FDEs")
	return list
}

// augmentations returns an FDE with the instructions for each augmentation.
func augmentations(body []byte) *frames {
	f := newEH()
	for _, cie := range [][]byte{
		cat(1, "", 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1),
		cat(1, "z", 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1),
		cat(1, "z", 1, 0x78, 16, 3, 1, 2, 3, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zS", 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zSB", 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1),
		cat(1, "eh", u64(0x1234), 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1),
	} {
		offset := f.cie(cie...)
		start := f.code(0x1000, 16, 8)
		if cie[1] == 'z' {
			start = append(start, 0)
		}
		f.fde(offset, cat(start, body)...)
	}
	for _, cie := range [][]byte{
		zrCIE,
		cat(1, "zRS", 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zRG", 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zPLR", 1, 0x78, 16, 7, 3, u32(0x123456), 0x1b, 0x1b, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zRL", 1, 0x78, 16, 2, 0x1b, 0x03, 0x0c, 7, 8, 0x90, 1),
		cat(1, "zLRX", 1, 0x78, 16, 4, 0x03, 0x1b, 0xaa, 0xbb, 0x0c, 7, 8, 0x90, 1),
	} {
		f.fde(f.cie(cie...), cat(f.code(0x1000, 16, 4), 4, 1, 2, 3, 4, body)...)
	}
	return f
}

// encodings returns examples of pointers.
func encodings() []example {
	var list []example
	forms := []struct{ form, size int }{{0x00, 8}, {0x02, 2}, {0x03, 4}, {0x04, 8}, {0x08, 8}, {0x0a, 2}, {0x0b, 4}, {0x0c, 8}}
	for _, application := range []int{0, 0x10} {
		f := newEH()
		for _, form := range forms {
			e := form.form | application
			cie := f.cie(cat(1, "zR", 1, 0x78, 16, 1, e, 0x0c, 7, 8, 0x90, 1)...)
			f.fde(cie, cat(f.code(0x1000, 16, form.size), 0, 0x41, 0x0e, 16, 1, f.address(nil, 0x1008, form.size), 0x0e, 24)...)
			// A negative start.
			f.fde(cie, cat(f.code(math.MaxUint64-0xfff, 0x800, form.size), 0, 0x41, 0x0e, 16)...)
		}
		list = append(list, example{name: fmt.Sprintf("encodings-%#02x", application), file: amd64(f)})
	}
	f := newEH()
	pair := f.code(16, 16, 4)
	return append(list,
		example{name: "encodings-textrel", file: relative(0x2b, pair), differs: "Starts relative to .text and to the global offset table"},
		example{name: "encodings-datarel", file: relative(0x3b, pair), differs: "Starts relative to .text and to the global offset table"},
		example{name: "encodings-indirect", file: relative(0x80, f.code(0x3008, 16, 8)), differs: "Indirect starts"},
		example{name: "encodings-aligned", file: relative(0x50, cat(make([]byte, 4), f.code(0x1010, 16, 8))), differs: "Aligned starts"},
		example{name: "encodings-uleb128", file: relative(0x01, cat(0x90, 0x20, 16)), differs: "Starts in LEB128"},
		example{name: "encodings-sleb128", file: relative(0x09, cat(0x90, 0x20, 16)), differs: "Starts in LEB128"},
	)
}

// relative returns a file in which function starts have one encoding, with the sections that
// they can be relative to.
func relative(e int, start []byte) []byte {
	f := newEH()
	cie := f.cie(cat(1, "zR", 1, 0x78, 16, 1, e, 0x0c, 7, 8, 0x90, 1)...)
	f.fde(cie, cat(start, 0, 0x41, 0x0e, 16)...)
	return amd64Sections(
		section{name: ".text", flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 64)},
		f.section(0x2004),
		section{name: ".got", flags: elf.SHF_ALLOC | elf.SHF_WRITE, address: 0x3000, data: cat(u64(0), u64(0x1010))})
}

// machines returns examples of the effects of e_machine, class and byte order.
func machines() []example {
	var list []example
	for _, m := range []struct {
		name    string
		machine elf.Machine
		class   elf.Class
		order   binary.AppendByteOrder
		code    int
		data    int // one byte of SLEB128
		ra      int
		sp      int
		save    []byte
	}{
		{"i386", elf.EM_386, elf.ELFCLASS32, little, 1, 0x7c, 8, 4, []byte{0x85, 2}},
		{"x32", elf.EM_X86_64, elf.ELFCLASS32, little, 1, 0x78, 16, 7, []byte{0x86, 2}},
		{"arm64", elf.EM_AARCH64, elf.ELFCLASS64, little, 4, 0x78, 30, 31, []byte{0x9d, 2, 0x9e, 1, 0x2d, 5, 72, 3, 5, 46, 4}},
		{"arm64be", elf.EM_AARCH64, elf.ELFCLASS64, big, 4, 0x78, 30, 31, []byte{0x9d, 2, 0x9e, 1, 0x2d}},
		{"arm", elf.EM_ARM, elf.ELFCLASS32, little, 2, 0x7c, 14, 13, []byte{0x8e, 1, 5, 0x88, 2, 2}},
		{"armbe", elf.EM_ARM, elf.ELFCLASS32, big, 2, 0x7c, 14, 13, []byte{0x8e, 1}},
		{"riscv64", elf.EM_RISCV, elf.ELFCLASS64, little, 1, 0x78, 1, 2, []byte{0x81, 1, 0x88, 2, 0xa9, 3, 5, 0xc1, 0x26, 4}},
		{"riscv32", elf.EM_RISCV, elf.ELFCLASS32, little, 1, 0x7c, 1, 2, []byte{0x81, 1}},
		{"ppc", elf.EM_PPC, elf.ELFCLASS32, big, 4, 0x7c, 65, 1, []byte{0x11, 65, 0x7f, 9, 66, 12}},
		{"ppc64", elf.EM_PPC64, elf.ELFCLASS64, big, 4, 0x78, 65, 1, []byte{0x11, 65, 0x7e, 0x9f, 1}},
		{"s390x", elf.EM_S390, elf.ELFCLASS64, big, 1, 0x78, 14, 15, []byte{0x8e, 6, 0x90, 4}},
		{"mips", elf.EM_MIPS, elf.ELFCLASS32, big, 1, 0x7c, 31, 29, []byte{0x9f, 1, 0x1d, 0, 0, 0, 0, 0, 0, 0, 8, 0x9e, 2}},
		{"sparc64", elf.EM_SPARCV9, elf.ELFCLASS64, big, 4, 0x78, 15, 14, []byte{0x2d, 9, 15, 31, 0x41, 0x99, 3}},
		{"hppa", elf.EM_PARISC, elf.ELFCLASS32, big, 4, 4, 2, 30, []byte{0x11, 2, 0x7b}},
		{"loong64", elf.EM_LOONGARCH, elf.ELFCLASS64, little, 1, 0x78, 1, 3, []byte{0x81, 1, 0x96, 2}},
		{"unknown", 0xfe12, elf.ELFCLASS64, little, 1, 0x78, 16, 7, []byte{0x86, 2}},
	} {
		size := 4
		if m.class == elf.ELFCLASS64 {
			size = 8
		}
		f := &frames{order: m.order}
		cie := f.cie(cat(1, "", m.code, m.data, m.ra, 0x0c, m.sp, 0)...)
		f.fde(cie, cat(f.code(0x1000, 0x100, size), 0x44, 0x0e, 32, m.save, 0x44, 3, m.order.AppendUint16(nil, 4), 0x0a,
			4, m.order.AppendUint32(nil, 8), 0xc0|m.ra&0x3f, 0x0f, 2, 0x70|m.sp&0x1f, 8, 0x44, 0x0b)...)
		f.dwarf64 = true
		f.fde(f.cie(cat(3, "", m.code, m.data, m.ra, 0x0c, m.sp, 0)...), cat(f.code(0x2000, 0x100, size), 0x44, 0x0e, 32)...)
		list = append(list, example{name: "machine-" + m.name, file: elfFile(m.machine, m.class, m.order, f.section(0))})
	}
	f := &frames{order: big, eh: true}
	cie := f.cie(cat(1, "zR", 4, 0x78, 65, 1, 0x1b, 0x0c, 1, 0)...)
	f.fde(cie, cat(f.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16)...)
	list = append(list, example{name: "big-endian-eh", file: elfFile(elf.EM_PPC64, elf.ELFCLASS64, big, f.section(0x2000))})
	f.raw(0, 0, 0, 0)
	f.fde(cie, cat(f.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16)...)
	list = append(list, example{name: "terminator-big-endian",
		file: elfFile(elf.EM_PPC64, elf.ELFCLASS64, big, f.section(0x2000)), differs: "Bytes after a terminator"})
	return list
}

// containers returns examples of sections with call frame information.
func containers() []example {
	eh := newEH()
	eh.fde(eh.cie(zrCIE...), cat(eh.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16)...)
	debug := function(plainCIE, 0x41, 0x0e, 16)
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(debug.b)
	w.Close()
	compressed := section{name: ".debug_frame", flags: elf.SHF_COMPRESSED,
		data: cat(u32(uint32(elf.COMPRESS_ZLIB)), u32(0), u64(uint64(len(debug.b))), u64(8), packed.Bytes())}
	legacy := section{name: ".zdebug_frame", data: cat([]byte("ZLIB"), big.AppendUint64(nil, uint64(len(debug.b))), packed.Bytes())}
	empty := section{name: ".eh_frame", flags: elf.SHF_ALLOC}
	nobits := section{name: ".eh_frame", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC, size: 64}
	unwind := eh.section(0x3000)
	unwind.typ = 0x70000001 // SHT_X86_64_UNWIND
	renamed := unwind
	renamed.name = ".unwind"
	return []example{
		{name: "none", file: amd64Sections(section{name: ".text", data: []byte{0xc3}})},
		{name: "both", file: amd64Sections(eh.section(0x2000), debug.section(0))},
		{name: "both-other-order", file: amd64Sections(debug.section(0), eh.section(0x2000))},
		{name: "twice", file: amd64Sections(eh.section(0x2000), debug.section(0), eh.section(0x3000))},
		{name: "compressed", file: amd64Sections(compressed)},
		{name: "compressed-legacy", file: amd64Sections(legacy)},
		{name: "empty", file: amd64Sections(empty, debug.section(0))},
		{name: "nobits", file: amd64Sections(nobits, debug.section(0))},
		{name: "unwind-type", file: amd64Sections(unwind)},
		{name: "unwind-type-renamed", file: amd64Sections(renamed)},
	}
}
