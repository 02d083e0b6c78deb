// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"iter"
	"slices"
)

// The publisher looks one symbol up in the files that are mapped into its
// process. Package object could, but a program that publishes would link it
// with all its decompressors.

const (
	maxSections    = 1 << 16
	maxSymbolBytes = 1 << 30 // that are read of a file's tables of symbols and strings
	symbolSize     = 24      // of an elf.Sym64
	maxDefinitions = 16
)

// findSymbol returns the run-time addresses of the objects with a name that an
// ELF file of this machine defines; code is a mapping of the file. It reads the
// file in pieces and takes a malformed one for a file without the symbol.
func findSymbol(file io.ReaderAt, name string, code codeMapping) (addresses []uint64) {
	le := binary.LittleEndian
	header := readAt(file, 0, 64)
	if header == nil || string(header[:6]) != elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)}) ||
		le.Uint16(header[54:]) != 56 || le.Uint16(header[58:]) != 64 {
		return nil
	}
	bias, ok := biasOf(readAt(file, le.Uint64(header[32:]), 56*int(le.Uint16(header[56:]))), code)
	if !ok {
		return nil
	}
	count := uint64(le.Uint16(header[60:]))
	if first := readAt(file, le.Uint64(header[40:]), 64); count == 0 && first != nil {
		count = le.Uint64(first[32:]) // ELF: the sections are too many for the header
	}
	if count > maxSections {
		return nil
	}
	sections := readAt(file, le.Uint64(header[40:]), 64*int(count))
	tables := tables{file: file, left: maxSymbolBytes}
	section := func(n uint64) (typ elf.SectionType, link, offset, size uint64) {
		s := sections[64*n:]
		return elf.SectionType(le.Uint32(s[4:])), uint64(le.Uint32(s[40:])), le.Uint64(s[24:]), le.Uint64(s[32:])
	}
	for n := range uint64(len(sections) / 64) {
		typ, link, offset, size := section(n)
		if typ != elf.SHT_SYMTAB && typ != elf.SHT_DYNSYM || link >= count {
			continue
		}
		_, _, stringsAt, stringsSize := section(link)
		names := tables.find(stringsAt, stringsSize, name)
		if len(names) == 0 {
			continue // as nearly always: the symbols need no look
		}
		for s := range tables.chunks(offset, size, symbolSize) {
			for ; len(s) >= symbolSize; s = s[symbolSize:] {
				if typ := elf.ST_TYPE(s[4]); slices.Contains(names, le.Uint32(s)) && le.Uint16(s[6:]) != 0 &&
					(typ == elf.STT_OBJECT || typ == elf.STT_NOTYPE) && len(addresses) < maxDefinitions {
					addresses = append(addresses, le.Uint64(s[8:])+bias)
				}
			}
		}
	}
	return addresses
}

// biasOf returns what is added to the addresses of a file with such program
// headers, with an executable segment that a mapping contains.
func biasOf(headers []byte, m codeMapping) (bias uint64, ok bool) {
	le := binary.LittleEndian
	for h := headers; len(h) >= 56; h = h[56:] {
		offset, address, size, align := le.Uint64(h[8:]), le.Uint64(h[16:]), le.Uint64(h[32:]), le.Uint64(h[48:])
		// The kernel maps whole pages of 4 to 64 KiB.
		page := min(max(align, 1<<12), 1<<16)
		if elf.ProgType(le.Uint32(h)) != elf.PT_LOAD || elf.ProgFlag(le.Uint32(h[4:]))&elf.PF_X == 0 ||
			offset > m.offset && offset-m.offset >= page || m.offset > offset && m.offset-offset >= size {
			continue
		}
		if b := m.start - m.offset - (address - offset); b%(1<<12) == 0 {
			return b, true
		}
	}
	return 0, false
}

// tables are the tables of symbols and strings of a file.
type tables struct {
	file   io.ReaderAt
	left   uint64 // bytes that may still be read
	buffer [symbolSize << 11]byte
}

// find returns where a table of strings has a string, also as the end of a
// longer one.
func (t *tables) find(offset, size uint64, text string) (found []uint32) {
	key := append([]byte(text), 0)
	at := uint64(0) // of b in the table
	var b []byte    // the end of the previous piece and the next one
	for piece := range t.chunks(offset, size, 1) {
		kept := min(len(b), len(key)-1)
		at += uint64(len(b) - kept)
		b = append(b[:copy(b, b[len(b)-kept:])], piece...)
		for from := 0; len(found) < maxDefinitions; {
			i := bytes.Index(b[from:], key)
			if i < 0 {
				break
			}
			found = append(found, uint32(at)+uint32(from+i))
			from += i + 1
		}
	}
	return found
}

// chunks yields a table in pieces that hold whole elements, as far as it can be
// read.
func (t *tables) chunks(offset, size, element uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for size = min(size, t.left); size >= element; {
			b := t.buffer[:min(size, uint64(len(t.buffer)))]
			n, _ := t.file.ReadAt(b, int64(offset))
			t.left -= min(t.left, uint64(len(b)))
			if n == 0 || !yield(b[:n]) || n < len(b) {
				return
			}
			offset, size = offset+uint64(n), size-uint64(n)
		}
	}
}

// readAt returns bytes of a file, nil where it does not have all of them.
func readAt(file io.ReaderAt, offset uint64, size int) []byte {
	b := make([]byte, size)
	if n, _ := file.ReadAt(b, int64(offset)); n < size {
		return nil
	}
	return b
}
