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

// The publisher looks for one symbol in the files that are mapped into its process.
// Package object would do, but every program that publishes would then link its
// decompressors.

const (
	maxSections    = 1 << 16
	maxSymbolBytes = 1 << 30 // the most that is read of a file's symbol and string tables
	symbolSize     = 24      // of an elf.Sym64
	maxDefinitions = 16
)

// findSymbol returns the run-time addresses of the objects of the given name that an
// ELF file of this machine defines; code is a mapping of the file. It reads the file in
// pieces. A malformed file counts as one without the symbol.
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
		count = le.Uint64(first[32:]) // ELF: extended section numbering
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
			continue // the usual case: no need to read the symbols
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

// biasOf returns the load bias of a file, given its program headers and a mapping that
// contains one of its executable segments.
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

// tables contains the symbol and string tables of a file.
type tables struct {
	file   io.ReaderAt
	left   uint64 // bytes that may still be read
	buffer [symbolSize << 11]byte
}

// find returns the offset of a string in a string table, also as the end of a longer
// string.
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

// chunks yields a table in pieces of whole elements, as far as it can be read.
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

// readAt returns n bytes of a file, or nil if it has fewer.
func readAt(file io.ReaderAt, offset uint64, size int) []byte {
	b := make([]byte, size)
	if n, _ := file.ReadAt(b, int64(offset)); n < size {
		return nil
	}
	return b
}
