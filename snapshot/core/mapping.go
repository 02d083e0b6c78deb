// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clewdev/clew/snapshot"
)

// fileRange is a range of addresses that a file was mapped to: [start, end).
type fileRange struct {
	start, end uint64
	offset     uint64 // of start in the file, bytes
	path       string // as the core has it
}

// readFiles reads NT_FILE (fs/binfmt_elf.c, fill_files_note): the number of
// ranges, the size of a page, three words a range of which the third counts
// pages, and the paths, each with a NUL.
func (c *Core) readFiles(b []byte) error {
	if c.notes.hasFile {
		if c.notes.moreFiles {
			return nil // and told
		}
		c.notes.moreFiles = true
		return errors.New("NT_FILE: there is more than one, and the first one counts")
	}
	size := c.wordSize()
	if len(b) < 2*size {
		return fmt.Errorf("NT_FILE: %d bytes, at least %d expected", len(b), 2*size)
	}
	count, page := c.word(b), c.word(b[size:])
	all := len(b)
	b = b[2*size:]
	var cut error
	// A range takes its words and the NUL of its path.
	if most := uint64(len(b)) / uint64(3*size+1); count > most {
		return fmt.Errorf("NT_FILE: %d ranges in %d bytes", count, all)
	}
	words, paths := b[:count*uint64(3*size)], b[count*uint64(3*size):]
	if count > maxFileRanges {
		cut = fmt.Errorf("NT_FILE: %d ranges, of which %d are read", count, maxFileRanges)
		count, words = maxFileRanges, words[:maxFileRanges*3*size]
	}
	last := ""
	c.notes.files = make([]fileRange, 0, count)
	for ; len(words) > 0; words = words[3*size:] {
		path := paths
		if i := slices.Index(paths, 0); i >= 0 {
			path, paths = paths[:i], paths[i+1:]
		} else {
			cut = fmt.Errorf("NT_FILE: the list of paths is cut off")
			break
		}
		if string(path) != last { // a file's ranges follow each other
			last = string(path)
		}
		r := fileRange{start: c.word(words), end: c.word(words[size:]), offset: c.word(words[2*size:]) * page, path: last}
		if r.start < r.end {
			c.notes.files = append(c.notes.files, r)
		}
	}
	c.notes.hasFile = true
	return cut
}

// maxFileRanges bounds the ranges of NT_FILE, each of which can name another file. By
// default a process has at most 65,530 mappings (vm.max_map_count).
const maxFileRanges = 1 << 16

// piece is a range of addresses that is of one kind throughout.
type piece struct {
	start, end uint64
	at         int64  // offset in the core of what it has from start on
	dumped     uint64 // how many bytes the core has of it
	cut        uint64 // how many of the piece's bytes the core was meant to have

	offset  uint64  // of start in the file that was mapped
	module  *module // of that file, nil where none was mapped
	written bool    // the target may have written to it: the file does not tell what it held
}

// rearrange makes the pieces anew, for files that became known.
func (c *Core) rearrange() {
	c.pieces, c.snapshot.Mappings, c.unknown = nil, nil, nil
	c.memory, c.dumped = &memory{core: c}, &memory{core: c, dumpedOnly: true}
	c.arrange()
	c.findProgram()
	c.permit()
}

// arrange makes the pieces and the mappings of the address space: of the
// segments of the core, and of the files that were mapped. Where segments
// overlap, as in no real core, the first by address stands.
func (c *Core) arrange() {
	loads := c.header.loads
	slices.SortStableFunc(loads, func(a, b load) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
	files := disjoint(c.notes.files)
	// As many as there are unless ranges and segments overlap in parts.
	c.pieces = make([]piece, 0, len(loads)+len(files))
	c.snapshot.Mappings = make([]snapshot.Mapping, 0, len(loads)+len(files))
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
		for len(files) > 0 && files[0].end <= start {
			c.addFile(&files[0], max(files[0].start, end), files[0].end, nil)
			end = max(end, files[0].end)
			files = files[1:]
		}
		if len(files) > 0 && files[0].start < start {
			c.addFile(&files[0], max(files[0].start, end), start, nil)
		}
		for start < stop {
			next := stop
			var f *fileRange
			if len(files) > 0 {
				switch f = &files[0]; {
				case f.start >= stop:
					f = nil
				case f.start > start:
					next, f = f.start, nil
				default:
					next = min(stop, f.end)
				}
			}
			c.addFile(f, start, next, p)
			if f != nil && next == f.end {
				files = files[1:]
			}
			start = next
		}
		end = max(end, stop)
	}
	for i := range files {
		c.addFile(&files[i], max(files[i].start, end), files[i].end, nil)
	}
}

// addFile adds the piece [start, end) of a file's range and of a segment, of
// which one may be nil.
func (c *Core) addFile(f *fileRange, start, end uint64, p *load) {
	if start >= end {
		return
	}
	x := piece{start: start, end: end, written: true}
	m := snapshot.Mapping{Start: start, End: end}
	if p != nil {
		skip := start - p.Vaddr
		x.cut = min(p.Filesz-min(p.Filesz, skip), end-start)
		if at := p.Off + skip; at >= p.Off && at < uint64(c.size) {
			x.at, x.dumped = int64(at), min(x.cut, uint64(c.size)-at)
		}
		m.Readable, m.Writable, m.Executable = p.Flags&elf.PF_R != 0, p.Flags&elf.PF_W != 0, p.Flags&elf.PF_X != 0
	}
	if f != nil {
		x.offset = f.offset + (start - f.start)
		x.module = c.module(f.path)
		x.module.add(start, x.offset)
		x.written = m.Writable
		m.Offset, m.Path = x.offset, x.module.path
		m.Deleted = x.module.deleted
		if p == nil {
			// What the writer left out: code, most often.
			m.Readable, m.Executable = true, true
			c.unknown = append(c.unknown, len(c.pieces))
		}
	} else if c.notes.auxv[atSysInfoEHdr] == start && start != 0 {
		m.Path = "[vdso]"
	}
	c.pieces = append(c.pieces, x)
	c.snapshot.Mappings = append(c.snapshot.Mappings, m)
}

// disjoint sorts ranges by address and takes from each what an earlier one covers.
func disjoint(files []fileRange) []fileRange {
	slices.SortStableFunc(files, func(a, b fileRange) int { return cmp.Compare(a.start, b.start) })
	kept, end := files[:0], uint64(0)
	for _, f := range files {
		if f.end <= end {
			continue
		}
		if f.start < end {
			f.offset += end - f.start
			f.start = end
		}
		end = f.end
		kept = append(kept, f)
	}
	return kept
}

// deletedSuffix is what the kernel appends to the path of a file without a name.
const deletedSuffix = " (deleted)"

// module returns the module of a path as the core has it.
func (c *Core) module(path string) *module {
	m := c.modules[path]
	if m == nil {
		m = &module{core: c}
		m.path, m.deleted = strings.CutSuffix(path, deletedSuffix)
		c.modules[path] = m
	}
	return m
}
