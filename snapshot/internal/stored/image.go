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

// image opens the dump's own copy of a file that was mapped at base. The caller must not
// keep it.
func (d *Dump) image(base uint64, path string) (*object.File, error) {
	return object.FromMemory(imageMemory{d}, base, path)
}

// maxImaged bounds the bytes that are read of all images of a dump: real images take
// some thousand bytes each. Any number of files can share the same bytes of a hostile
// dump, and each can have 65,535 program headers.
const maxImaged = 32 << 20

// imageMemory is the dump's own memory, limited to maxImaged bytes.
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

// permit sets the permissions of pieces without a segment in the dump from the file's
// headers: gcore omits code and constants. A file without such headers is data.
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
		// The second of two segments that share a page owns it.
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

// lastUpTo returns the index of the last of n ascending values that is at most v, or -1.
func lastUpTo(v uint64, n int, value func(i int) uint64) int {
	return sort.Search(n, func(i int) bool { return value(i) > v }) - 1
}

const pageSize = 4096

// byOffset returns the PT_LOAD segments in the order of their file offsets.
func byOffset(segments []elf.ProgHeader) []elf.ProgHeader {
	loads := slices.DeleteFunc(slices.Clone(segments), func(p elf.ProgHeader) bool { return p.Type != elf.PT_LOAD || p.Filesz == 0 })
	slices.SortStableFunc(loads, func(a, b elf.ProgHeader) int { return cmp.Compare(a.Off, b.Off) })
	return loads
}

// maxPeeked bounds the number of files that are examined before they are needed.
const maxPeeked = 1 << 12

// findData marks the modules that are not ELF files, by the file now at the path unless
// the dump has its ELF header. The kernel's cores mark data by their segments. gcore's
// have no segments of unwritten memory; they have the headers of ELF files, if
// coredump_filter asks for them (core(5)). A missing module, or the program, is left
// unchanged.
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
