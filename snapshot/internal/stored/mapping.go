// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"
	"strings"

	"github.com/clewdev/clew/snapshot"
)

// FileRange is the range [Start, End) of a mapped file.
type FileRange struct {
	Start, End uint64
	Offset     uint64 // of Start in the file, bytes
	Path       string // in the dump
}

// Segment is a range of memory. The dump may contain its first bytes. There can be half a
// million segments.
type Segment struct {
	Vaddr, Off, Memsz, Filesz uint64 // as in an ELF program header
	Flags                     elf.ProgFlag
	Unknown                   bool // the permissions are unknown: Flags are used unless a file was mapped
}

// piece is a range of addresses with the same properties.
type piece struct {
	start, end uint64
	at         int64  // offset in the dump of the byte at start
	dumped     uint64 // number of its bytes in the dump
	cut        uint64 // number of its bytes that the dump should contain

	offset  uint64  // of start in the file that was mapped
	module  *module // of that file, nil if no file was mapped
	written bool    // the target may have written to it: the contents can differ from the file's
}

// Arrange computes the pieces again, after files were added.
func (d *Dump) Arrange() {
	d.pieces, d.Snapshot.Mappings, d.unknown = nil, nil, nil
	d.memory, d.dumped = &memory{dump: d}, &memory{dump: d, dumpedOnly: true}
	d.arrange()
	d.findProgram()
	d.permit()
}

// arrange computes the pieces and the mappings of the address space from the segments
// and the mapped files. If segments overlap, which no real dump does, the first by
// address wins.
func (d *Dump) arrange() {
	loads := d.Segments
	slices.SortStableFunc(loads, func(a, b Segment) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
	files := Disjoint(d.Files)
	// There are this many unless ranges and segments partly overlap.
	d.pieces = make([]piece, 0, len(loads)+len(files))
	d.Snapshot.Mappings = make([]snapshot.Mapping, 0, len(loads)+len(files))
	end := uint64(0) // of the pieces so far
	for i := range loads {
		p := &loads[i]
		start, stop := max(p.Vaddr, end), p.Vaddr+p.Memsz
		if p.Filesz > p.Memsz {
			stop = p.Vaddr + p.Filesz
		}
		if stop < p.Vaddr { // at or beyond the end of the address space
			stop = math.MaxUint64
		}
		for len(files) > 0 && files[0].End <= start {
			d.addFile(&files[0], max(files[0].Start, end), files[0].End, nil)
			end = max(end, files[0].End)
			files = files[1:]
		}
		if len(files) > 0 && files[0].Start < start {
			d.addFile(&files[0], max(files[0].Start, end), start, nil)
		}
		for start < stop {
			next := stop
			var f *FileRange
			if len(files) > 0 {
				switch f = &files[0]; {
				case f.Start >= stop:
					f = nil
				case f.Start > start:
					next, f = f.Start, nil
				default:
					next = min(stop, f.End)
				}
			}
			d.addFile(f, start, next, p)
			if f != nil && next == f.End {
				files = files[1:]
			}
			start = next
		}
		end = max(end, stop)
	}
	for i := range files {
		d.addFile(&files[i], max(files[i].Start, end), files[i].End, nil)
	}
}

// addFile adds the piece [start, end) of a file's range and a segment. One of the two may
// be nil.
func (d *Dump) addFile(f *FileRange, start, end uint64, p *Segment) {
	if start >= end {
		return
	}
	x := piece{start: start, end: end, written: true}
	m := snapshot.Mapping{Start: start, End: end}
	if p != nil {
		skip := start - p.Vaddr
		x.cut = min(p.Filesz-min(p.Filesz, skip), end-start)
		if at := p.Off + skip; at >= p.Off && at < uint64(d.Size) {
			x.at, x.dumped = int64(at), min(x.cut, uint64(d.Size)-at)
		}
		permissions(&m, p.Flags)
	}
	if f != nil {
		x.offset = f.Offset + (start - f.Start)
		x.module = d.module(f.Path)
		x.module.add(start, x.offset)
		m.Offset, m.Path = x.offset, x.module.path
		m.Deleted = x.module.deleted
		if p == nil || p.Unknown {
			// Memory that the writer omitted, usually code.
			permissions(&m, elf.PF_R|elf.PF_X)
			d.unknown = append(d.unknown, len(d.pieces))
		}
		x.written = m.Writable
	} else if d.Auxv[atSysInfoEHdr] == start && start != 0 {
		m.Path = "[vdso]"
	}
	d.pieces = append(d.pieces, x)
	d.Snapshot.Mappings = append(d.Snapshot.Mappings, m)
}

func permissions(m *snapshot.Mapping, flags elf.ProgFlag) {
	m.Readable, m.Writable, m.Executable = flags&elf.PF_R != 0, flags&elf.PF_W != 0, flags&elf.PF_X != 0
}

// Disjoint sorts ranges by address, in place, and cuts off from each the part that an earlier
// one covers.
func Disjoint(files []FileRange) []FileRange {
	slices.SortStableFunc(files, func(a, b FileRange) int { return cmp.Compare(a.Start, b.Start) })
	kept, end := files[:0], uint64(0)
	for _, f := range files {
		if f.End <= end {
			continue
		}
		if f.Start < end {
			f.Offset += end - f.Start
			f.Start = end
		}
		end = f.End
		kept = append(kept, f)
	}
	return kept
}

// deletedSuffix is what the kernel appends to the path of a deleted file.
const deletedSuffix = " (deleted)"

// module returns the module of a path in the dump.
func (d *Dump) module(path string) *module {
	m := d.modules[path]
	if m == nil {
		m = &module{dump: d}
		m.path, m.deleted = strings.CutSuffix(path, deletedSuffix)
		d.modules[path] = m
	}
	return m
}
