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

// FileRange is a range of addresses that a file was mapped to: [Start, End).
type FileRange struct {
	Start, End uint64
	Offset     uint64 // of Start in the file, bytes
	Path       string // as the dump has it
}

// Segment is a range of memory of which the dump may hold the first bytes. There can be
// half a million.
type Segment struct {
	Vaddr, Off, Memsz, Filesz uint64 // as in an ELF program header
	Flags                     elf.ProgFlag
	Unknown                   bool // the dump does not have the permissions: Flags hold unless a file was mapped
}

// piece is a range of addresses that is of one kind throughout.
type piece struct {
	start, end uint64
	at         int64  // offset in the dump of what was dumped, from start on
	dumped     uint64 // how many bytes the dump has of it
	cut        uint64 // how many of the piece's bytes the dump was meant to have

	offset  uint64  // of start in the file that was mapped
	module  *module // of that file, nil where none was mapped
	written bool    // the target may have written to it: the file does not tell what it held
}

// Arrange makes the pieces anew, for files that became known.
func (d *Dump) Arrange() {
	d.pieces, d.Snapshot.Mappings, d.unknown = nil, nil, nil
	d.memory, d.dumped = &memory{dump: d}, &memory{dump: d, dumpedOnly: true}
	d.arrange()
	d.findProgram()
	d.permit()
}

// arrange makes the pieces and the mappings of the address space: of the
// segments, and of the files that were mapped. Where segments overlap, as in no real
// dump, the first by address stands.
func (d *Dump) arrange() {
	loads := d.Segments
	slices.SortStableFunc(loads, func(a, b Segment) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
	files := disjoint(d.Files)
	// As many as there are unless ranges and segments overlap in parts.
	d.pieces = make([]piece, 0, len(loads)+len(files))
	d.Snapshot.Mappings = make([]snapshot.Mapping, 0, len(loads)+len(files))
	end := uint64(0) // of what is arranged
	for i := range loads {
		p := &loads[i]
		start, stop := max(p.Vaddr, end), p.Vaddr+p.Memsz
		if p.Filesz > p.Memsz {
			stop = p.Vaddr + p.Filesz
		}
		if stop < p.Vaddr { // to the very end of the address space, or beyond
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

// addFile adds the piece [start, end) of a file's range and of a segment, of
// which one may be nil.
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
			// What the writer left out: code, most often.
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

// disjoint sorts ranges by address and takes from each what an earlier one covers.
func disjoint(files []FileRange) []FileRange {
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

// deletedSuffix is what the kernel appends to the path of a file without a name.
const deletedSuffix = " (deleted)"

// module returns the module of a path as the dump has it.
func (d *Dump) module(path string) *module {
	m := d.modules[path]
	if m == nil {
		m = &module{dump: d}
		m.path, m.deleted = strings.CutSuffix(path, deletedSuffix)
		d.modules[path] = m
	}
	return m
}
