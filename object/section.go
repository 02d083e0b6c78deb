// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
)

// Section is an entry of the section table.
type Section struct {
	Index   int
	Name    string
	Type    elf.SectionType
	Flags   elf.SectionFlag
	Address uint64
	Offset  uint64 // in the file, bytes
	Size    uint64 // in the file, bytes: before decompression
	Link    uint32
	Info    uint32
	Align   uint64
	Entry   uint64 // bytes of one entry, 0 if the section is not a table
}

// Sections returns the section table in its order, entry 0 included. It is empty for an
// image in memory, and if the table is missing or unreadable.
func (f *File) Sections() []Section {
	list := make([]Section, 0, f.sectionCount())
	// Names can overlap: without a bound they could take the square of the table's size.
	spare := 1<<20 + 4*len(f.names)
	f.noteFault(func() {
		for i := range f.sectionCount() {
			h := f.section(i)
			name := f.sectionName(h)
			if spare -= len(name); spare < 0 {
				name = nil
			}
			list = append(list, Section{
				Index: i, Name: string(name), Type: h.typ, Flags: h.flags, Address: h.addr,
				Offset: h.off, Size: h.size, Link: h.link, Info: h.info, Align: h.align, Entry: h.entsize,
			})
		}
	})
	return list
}

// SectionData returns the content of the section with an index of [File.Sections],
// decompressed and, in a relocatable file, relocated except for the operands of
// instructions. The content may be a view of the file or of [DebugSearch.Sections]: see
// [Guard]. If there is an error, data contains the bytes that could be read.
func (f *File) SectionData(index int) (data []byte, err error) {
	if _, err := f.sectionAt(index); err != nil {
		return nil, err
	}
	fault := Guard(func() error {
		data, err = f.content(index)
		return nil
	})
	return data, f.named(cmp.Or(fault, err))
}

// sectionAt is section for an index from a caller.
func (f *File) sectionAt(index int) (s sectionHeader, err error) {
	if index < 0 || index >= f.sectionCount() {
		return s, fmt.Errorf("%s: section %d of %d", f.name, index, f.sectionCount())
	}
	return f.section(index), nil
}

func (f *File) sectionCount() int { return int(f.shnum) }

// section decodes entry i of the section table.
func (f *File) section(i int) sectionHeader {
	return f.decodeSection(f.sections[uint64(i)*f.shentsize:])
}

// sectionName returns the name of a section, nil if it is outside of the table of names.
func (f *File) sectionName(s sectionHeader) []byte { return cString(f.names, uint64(s.name)) }

// cString returns the bytes from offset up to the next NUL or the end.
func cString(table []byte, offset uint64) []byte {
	if offset >= uint64(len(table)) {
		return nil
	}
	b := table[offset:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

// getUint reads a number of 4 or 8 bytes.
func getUint(b []byte, order binary.ByteOrder, size int) uint64 {
	if size == 4 {
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// hasName reports whether name is the string at offset in a table.
func hasName(table []byte, offset uint64, name string) bool {
	if offset > uint64(len(table)) || uint64(len(table))-offset <= uint64(len(name)) {
		return false
	}
	b := table[offset:]
	return b[len(name)] == 0 && string(b[:len(name)]) == name
}

// find returns the index of the first section called name that has content. Sections in a
// file of objcopy --only-keep-debug can be without content.
func (f *File) find(name string) (index int, ok bool) {
	for i := range f.sectionCount() {
		if s := f.section(i); s.typ != elf.SHT_NOBITS && hasName(f.names, uint64(s.name), name) {
			return i, true
		}
	}
	return 0, false
}

// raw returns the bytes of a section as stored in the file. With an error come the bytes
// before the end of the file.
func (f *File) raw(s sectionHeader) ([]byte, error) {
	if s.typ == elf.SHT_NOBITS || s.typ == elf.SHT_NULL {
		return nil, nil
	}
	size := uint64(len(f.data))
	if s.off > size {
		return nil, fmt.Errorf("section %s: at offset %#x, the file ends at %#x", f.sectionName(s), s.off, size)
	}
	b := f.data[s.off:]
	if min(s.size, uint64(len(b))) > f.portion() {
		return nil, fmt.Errorf("section %s: %d bytes at offset %#x, %w", f.sectionName(s), s.size, s.off, f.sparse())
	}
	if s.size > uint64(len(b)) {
		return b, fmt.Errorf("section %s: %d bytes at offset %#x, the file ends at %#x", f.sectionName(s), s.size, s.off, size)
	}
	return b[:s.size:s.size], nil
}

// content returns the bytes of section i, decompressed and relocated. It keeps copies, so
// that each is made and charged once.
func (f *File) content(i int) ([]byte, error) {
	s := f.section(i)
	data, err := f.raw(s)
	compressed := f.isCompressed(s, data)
	relocations, relocated := -1, false
	if f.typ == elf.ET_REL {
		relocations, relocated = f.relocationsOf(i)
	}
	if !compressed && !relocated {
		return data, err
	}
	f.mu.Lock()
	done, ok := f.contents[i]
	f.mu.Unlock()
	if ok {
		return done, nil
	}
	if err != nil {
		return data, err
	}
	switch {
	case compressed && !relocated:
		data, err = f.inflated(s, data)
	case compressed:
		data, err = f.decompress(s, data)
	default:
		if err = f.spend(uint64(len(data))); err == nil {
			data = bytes.Clone(data)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", f.sectionName(s), err)
	}
	var skipped []uint64
	if relocated {
		if skipped, err = f.relocate(data, s, relocations); err != nil {
			f.note(fmt.Errorf("section %s: %w", f.sectionName(s), err))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.contents == nil {
		f.contents, f.unapplied = make(map[int][]byte), make(map[int][]uint64)
	}
	f.contents[i] = data
	if len(skipped) > 0 {
		f.unapplied[i] = skipped
	}
	return data, nil
}

func prefix(b []byte, n int) []byte { return b[:min(n, len(b))] }

// SectionCache caches decompressed sections. Its methods are called concurrently.
type SectionCache interface {
	// Key returns the key of the section at a place, which hash computes by reading the
	// whole section. Key may remember it for a file that has not changed since. A panic of
	// hash, see [Guard], passes through.
	Key(place SectionPlace, hash func() SectionKey) SectionKey

	// Load returns the decompressed section of size bytes, nil if it is not in the cache.
	// The caller does not change the bytes, and calls release when it no longer uses them,
	// in [File.Close].
	Load(key SectionKey, size int64) (data []byte, release func() error)

	// Store adds a decompressed section. The caller keeps data and does not change it.
	Store(key SectionKey, data []byte)
}

// SectionKey is the SHA-256 of a compressed section as stored in the file, with its
// header.
type SectionKey [sha256.Size]byte

// SectionPlace is the place of a compressed section.
type SectionPlace struct {
	File         fs.FileInfo // as it was before the file was read
	Offset, Size uint64      // in the file, bytes
}

// leastCached is the smallest decompressed size in bytes of sections that are cached.
const leastCached = 32 << 10

// inflated returns a decompressed section, from the cache if it is there.
func (f *File) inflated(s sectionHeader, data []byte) ([]byte, error) {
	_, size, _, err := f.compression(s, data)
	search := f.search.Load()
	if err != nil || search == nil || search.Sections == nil || size < leastCached || size > 1<<40 {
		return f.decompress(s, data)
	}
	hash := func() SectionKey { return sha256.Sum256(data) }
	var key SectionKey
	if f.info != nil {
		key = search.Sections.Key(SectionPlace{f.info, s.off, s.size}, hash)
	} else {
		key = hash()
	}
	if kept, release := search.Sections.Load(key, int64(size)); kept != nil {
		f.mu.Lock()
		f.releases = append(f.releases, release)
		f.mu.Unlock()
		return kept, nil
	}
	out, err := f.decompress(s, data)
	if err == nil {
		search.Sections.Store(key, out)
	}
	return out, err
}
