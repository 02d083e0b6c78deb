// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
)

// ErrImage means that an image was not made by Append or Merge, or was changed.
var ErrImage = errors.New("not a symbol file that Clew made")

// source is an image that Merge reads. Its sections are views of it.
type source struct {
	machine              *arch.Machine
	texts                []byte // entries of the section table from number 1 on
	symbols, names       []byte // without the null symbol
	frames               []byte
	frameAddress         uint64
	units, lines         []byte // .debug_info and .debug_line, empty if no function has lines
	unitName             []byte // the name after sectionNames
	files                []byte // entries of the file table
	program              []byte // of the line table: its sequences
	firstFile, fileCount int    // range of its files in encoder.numbers
}

// parse finds the sections of an image. It accepts only the output of Append and Merge,
// because Merge would lose data of other runtimes' images.
func (s *source) parse(image []byte) error {
	le := binary.LittleEndian
	if len(image) < headerSize || string(image[:4]) != elf.ELFMAG {
		return fmt.Errorf("%w: no ELF header", ErrImage)
	}
	s.machine = arch.Lookup(elf.Machine(le.Uint16(image[18:])), elf.Class(image[elf.EI_CLASS]), elf.Data(image[elf.EI_DATA]))
	if err := supported(s.machine); err != nil {
		return fmt.Errorf("%w: %w", ErrImage, err)
	}
	table, n := le.Uint64(image[40:]), int(le.Uint16(image[60:]))
	if elf.Type(le.Uint16(image[16:])) != imageType || le.Uint16(image[58:]) != sectionSize ||
		table > uint64(len(image)) || n*sectionSize > len(image)-int(table) || n == 0 {
		return fmt.Errorf("%w: %d sections at offset %#x of %#x bytes", ErrImage, n, table, len(image))
	}
	sections := image[table:][:n*sectionSize]
	texts := 0
	for i := 1; i < n; i++ {
		b := sections[i*sectionSize:][:sectionSize]
		name := le.Uint32(b)
		if le.Uint64(b[8:]) == uint64(codeFlags) {
			if texts++; texts != i {
				return fmt.Errorf("%w: section %d is code", ErrImage, i)
			}
			continue
		}
		offset, size := le.Uint64(b[24:]), le.Uint64(b[32:])
		if offset > table || size > table-offset {
			return fmt.Errorf("%w: section %d has %#x bytes at offset %#x, expected the section table at %#x after it", ErrImage, i, size, offset, table)
		}
		data := image[offset:][:size:size]
		switch name {
		case nameSymtab:
			s.symbols = data
		case nameStrtab:
			s.names = data
		case nameEHFrame:
			s.frames, s.frameAddress = data, le.Uint64(b[16:])
		case nameInfo:
			s.units = data
		case nameLine:
			s.lines = data
		}
	}
	s.texts = sections[sectionSize : (texts+1)*sectionSize]
	switch {
	case !bytes.HasPrefix(s.names, []byte(sectionNames)) || s.names[len(s.names)-1] != 0:
		return fmt.Errorf("%w: its string table does not start with Clew's names, or does not end with a NUL", ErrImage)
	case len(s.symbols) < symbolSize || len(s.symbols)%symbolSize != 0:
		return fmt.Errorf("%w: a symbol table of %d bytes", ErrImage, len(s.symbols))
	}
	s.symbols = s.symbols[symbolSize:]
	s.unitName, _ = s.name(uint32(len(sectionNames)))
	return s.parseDebug()
}

// parseDebug finds the entries of the compile unit and of its line table.
func (s *source) parseDebug() error {
	if len(s.units) == 0 && len(s.lines) == 0 {
		return nil
	}
	if len(s.units) <= unitHeaderSize {
		return fmt.Errorf("%w: .debug_info has %d bytes", ErrImage, len(s.units))
	}
	s.units = s.units[unitHeaderSize : len(s.units)-1]

	if len(s.lines) < 4+len(lineHeader) || string(s.lines[lineHeaderStart:4+len(lineHeader)]) != lineHeader[8:] {
		return fmt.Errorf("%w: the header of .debug_line is not Clew's", ErrImage)
	}
	table := s.lines[4+len(lineHeader):]
	count, k, err := leb128.Uint(table)
	if err != nil || count == 0 || count > uint64(len(table)-k)/fileSize {
		return fmt.Errorf("%w: a table of %d files in %d bytes", ErrImage, count, len(table))
	}
	s.fileCount = int(count)
	s.files, s.program = table[k:][:s.fileCount*fileSize], table[k+s.fileCount*fileSize:]
	return nil
}

// text returns the range of a section of code by its number.
func (s *source) text(number int) (t textRange, ok bool) {
	if number < 1 || number > len(s.texts)/sectionSize {
		return t, false
	}
	b := s.texts[(number-1)*sectionSize:]
	t.start = binary.LittleEndian.Uint64(b[16:])
	t.end = t.start + binary.LittleEndian.Uint64(b[32:])
	return t, t.end >= t.start
}

// name returns the string at an offset of the string table, without its NUL.
func (s *source) name(offset uint32) (name []byte, ok bool) {
	if uint64(offset) >= uint64(len(s.names)) {
		return nil, false
	}
	name = s.names[offset:]
	return name[:bytes.IndexByte(name, 0)], true // the table ends with a NUL
}

// file returns the name of a file of the line table.
func (s *source) file(number uint32) (name []byte, ok bool) {
	if number == 0 || number >= uint32(s.fileCount) {
		return nil, false
	}
	return s.name(binary.LittleEndian.Uint32(s.files[number*fileSize:]))
}

// section returns .eh_frame.
func (s *source) section() *cfi.Section {
	return &cfi.Section{Name: ".eh_frame", Kind: cfi.EHFrame, Data: s.frames, Address: s.frameAddress, Machine: s.machine}
}

// nextFile finds the next DW_LNS_set_file of a sequence from offset at on, at [from, to).
// At the end of the sequence number is noFile, and to is the offset after it. It accepts
// only the operations that appendSequence writes.
func nextFile(program []byte, at int) (from, to int, number uint32, ok bool) {
	for at < len(program) {
		from = at
		op := program[at]
		at++
		switch {
		case op >= opcodeBase || op == dw.LNSConstAddPC:
			continue
		case op == dw.LNSExtended:
			if len(program)-from < len(endSequence) || string(program[from:from+len(endSequence)]) != endSequence {
				return from, at, 0, false
			}
			return from, from + len(endSequence), noFile, true
		case op == dw.LNSSetFile:
			n, k, err := leb128.Uint(program[at:])
			return from, at + k, uint32(n), err == nil && n < noFile
		case op == dw.LNSAdvancePC || op == dw.LNSAdvanceLine || op == dw.LNSSetColumn:
			k := leb128.Len(program[at:])
			if at += k; k == 0 {
				return from, at, 0, false
			}
		default:
			return from, at, 0, false
		}
	}
	return at, at, 0, false
}

const noFile = 1<<32 - 1
