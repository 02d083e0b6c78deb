// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// image opens what the dump itself has of a file that was mapped to base. It must
// not be kept.
func (d *Dump) image(base uint64, path string) (*object.File, error) {
	return object.FromMemory(imageMemory{d}, base, path)
}

// maxImaged bounds how many bytes are read of the images of one dump, in all: of
// a real one some thousand bytes a file. Any number of files can lie in the same
// bytes of a dump, and each can have 65,535 program headers.
const maxImaged = 32 << 20

// imageMemory is the memory of a dump as far as the dump itself has it, until
// maxImaged bytes were read.
type imageMemory struct{ dump *Dump }

// ReadMemory implements cfi.Memory.
func (m imageMemory) ReadMemory(p []byte, addr uint64) error {
	n := int64(len(p))
	if total := m.dump.imaged.Add(n); total > maxImaged {
		err := fmt.Errorf("ELF headers and notes of the mapped files: more than %d bytes", maxImaged)
		if total-n <= maxImaged {
			m.dump.Damaged(err)
		}
		return err
	}
	return m.dump.dumped.ReadMemory(p, addr)
}

// permit sets the permissions of what the dump has no segment of, as gcore leaves
// code and constants out: they are those that the file's own headers tell. A file
// without such headers is data.
func (d *Dump) permit() {
	loads := make(map[*module][]elf.ProgHeader)
	for _, i := range d.unknown {
		x, m := &d.pieces[i], &d.Snapshot.Mappings[i]
		list, ok := loads[x.module]
		if !ok {
			if list = byOffset(x.module.segments); len(list) == 0 && x.module.hasBase {
				list = nil
				if image, err := d.image(x.module.base, m.Path); err == nil {
					list = byOffset(image.Segments())
				}
			}
			if loads[x.module] = list; list == nil {
				x.module.findData()
			}
		}
		if x.module.notELF {
			m.Executable = false
			continue
		}
		// Of two segments that share a page the second one has it.
		at := lastUpTo(x.offset, len(list), func(i int) uint64 { return list[i].Off &^ (pageSize - 1) })
		if at >= 0 && x.offset < list[at].Off+list[at].Filesz {
			m.Executable = list[at].Flags&elf.PF_X != 0
			if x.module.segments != nil {
				m.Writable = list[at].Flags&elf.PF_W != 0
				x.written = m.Writable
			}
		}
	}
}

// lastUpTo returns the last of n ascending values that is at most v, -1 where
// there is none.
func lastUpTo(v uint64, n int, value func(i int) uint64) int {
	return sort.Search(n, func(i int) bool { return value(i) > v }) - 1
}

const pageSize = 4096

// byOffset returns the PT_LOAD segments in the order of what they have of the file.
func byOffset(segments []elf.ProgHeader) []elf.ProgHeader {
	loads := slices.DeleteFunc(slices.Clone(segments), func(p elf.ProgHeader) bool { return p.Type != elf.PT_LOAD || p.Filesz == 0 })
	slices.SortStableFunc(loads, func(a, b elf.ProgHeader) int { return cmp.Compare(a.Off, b.Off) })
	return loads
}

// maxPeeked bounds how many files are looked into before they are asked for.
const maxPeeked = 1 << 12

// findData notes whether the file that lies where the module's was is no ELF file,
// unless the dump has its ELF header. The kernel's cores tell by their segments
// what is data; gcore's have no segment of what was not written to, and the header
// of what is ELF, as coredump_filter asks them to (core(5)). A module that is gone
// or is the program stays what it was.
func (m *module) findData() {
	d := m.dump
	if m.looked || m.deleted || m.program || m.linked {
		return
	}
	m.looked = true
	var magic [4]byte
	if m.hasBase && d.dumped.ReadMemory(magic[:], m.base) == nil && string(magic[:]) == elf.ELFMAG {
		return
	}
	if d.peeked++; d.peeked > maxPeeked {
		return
	}
	for _, place := range d.Options.Search.Places(m.wanted()) {
		if place.Trust == debugfile.Doubtful {
			continue // it may be another file
		}
		f, err := place.Open()
		if errors.Is(err, untrusted.ErrNotRegular) {
			m.notELF = true
			return
		}
		if err != nil {
			continue
		}
		n, err := f.ReadAt(magic[:], 0)
		f.Close()
		m.notELF = (err == nil || err == io.EOF) && string(magic[:n]) != elf.ELFMAG
		return
	}
}
