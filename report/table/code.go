// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/arch/disasm"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
)

// CodeFile provides the code of functions and its source lines. *object.File implements it.
type CodeFile interface {
	Names
	SectionData(index int) ([]byte, error)
	ReadMemory(p []byte, addr uint64) error
	Locate(addr uint64) ([]object.Location, error)
}

// CodeLine is one instruction.
type CodeLine struct {
	Address uint64 // without load bias
	Size    int    // in bytes
	Text    string // GNU syntax
	File    string // path of the source file as compiled; "" if it is unknown
	Line    int    // 0 if it is unknown
}

// maxCode limits the code of one function, in bytes.
const maxCode = 1 << 18

// Disassemble returns the instructions of a function, with names for the targets of branches
// and with source lines, as far as the file has them. note is a remark on missing parts, or "".
func Disassemble(f *Function, file CodeFile) (lines []CodeLine, note string, err error) {
	m := f.FDE.CIE.Section.Machine
	code, err := readCode(f, file)
	if err != nil {
		return nil, "", err
	}
	switch {
	case !disasm.Known(m):
		note = fmt.Sprintf("code is printed as bytes: no disassembler for %s is built in", m.Name)
	case uint64(len(code)) < f.FDE.End-f.FDE.Start:
		note = fmt.Sprintf("only the first %d bytes of the function are printed", len(code))
	}
	if f.CodeSection != 0 && note == "" {
		note = "object file: the targets of branches are unknown before it is linked"
	}
	var names disasm.Name
	if f.CodeSection == 0 {
		names = branchNames(m, code, f.FDE.Start, file)
	}
	lines = decode(m, code, f.FDE.Start, names)
	// In an object file, an address does not identify a function.
	if f.CodeSection == 0 {
		for i := range lines {
			at, err := file.Locate(lines[i].Address)
			if len(at) > 0 {
				lines[i].File, lines[i].Line = at[0].File, at[0].Line
			} else if err != nil && note == "" {
				note = fmt.Sprintf("source lines are missing: %v", err)
			}
		}
	}
	return lines, note, nil
}

// Instructions returns the instructions of a function, without source lines and names. It is
// faster than Disassemble, because it looks nothing up. The result is nil if the code is
// missing or there is no disassembler for it.
func Instructions(f *Function, file CodeFile) []CodeLine {
	m := f.FDE.CIE.Section.Machine
	if !disasm.Known(m) {
		return nil
	}
	code, err := readCode(f, file)
	if err != nil {
		return nil
	}
	return decode(m, code, f.FDE.Start, nil)
}

func decode(m *arch.Machine, code []byte, pc uint64, names disasm.Name) (lines []CodeLine) {
	for len(code) > 0 {
		text, size := disasm.Decode(m, code, pc, names)
		lines = append(lines, CodeLine{Address: pc, Size: size, Text: text})
		code, pc = code[size:], pc+uint64(size)
	}
	return lines
}

// readCode reads the code of a function from its section, because an object file has no
// segments, or else from the segments, because a stripped image can lack sections.
func readCode(f *Function, file CodeFile) ([]byte, error) {
	start, end := f.FDE.Start, f.FDE.End
	size := min(end-start, maxCode)
	sections := file.Sections()
	_, disjoint := codeRegions(sections)
	for i := range sections {
		s := &sections[i]
		if !disjoint && i != f.CodeSection {
			continue
		}
		if s.Flags&executable == 0 || s.Type == elf.SHT_NOBITS || start < s.Address || start-s.Address >= s.Size {
			continue
		}
		data, err := file.SectionData(s.Index)
		if at := start - s.Address; uint64(len(data)) >= at+size {
			return data[at : at+size], nil
		} else if err != nil {
			return nil, fmt.Errorf("the code at %#x cannot be read: %w", start, err)
		}
	}
	code := make([]byte, size)
	if err := file.ReadMemory(code, start); err != nil {
		return nil, fmt.Errorf("the code at %#x is not in this file (a debug file has none; name the program): %w", start, err)
	}
	return code, nil
}

// branchNames decodes the code once to collect the addresses in it, and looks up all of them
// together.
func branchNames(m *arch.Machine, code []byte, pc uint64, names Names) disasm.Name {
	index := make(map[uint64]int)
	var addrs []uint64
	collect := func(addr uint64) (string, uint64) {
		if _, ok := index[addr]; !ok {
			index[addr] = len(addrs)
			addrs = append(addrs, addr)
		}
		return "", 0
	}
	for len(code) > 0 {
		_, size := disasm.Decode(m, code, pc, collect)
		code, pc = code[size:], pc+uint64(size)
	}
	// If symbols cannot be read, addresses are printed.
	symbols, _ := names.FindSymbols(addrs)
	return func(addr uint64) (string, uint64) {
		i, ok := index[addr]
		if !ok || i >= len(symbols) {
			return "", 0
		}
		return printable.Text(style.Demangle(symbols[i].Name)), symbols[i].Address
	}
}
