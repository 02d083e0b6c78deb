// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

const (
	descriptorSize = 16
	maxRanges      = 1 << 19 // of all lists: eight times the default vm.max_map_count
)

// addMemory adds a range of memory in the dump. If the range is truncated, it returns an error,
// but adds the whole range, so that reads report it.
func (d *dump) addMemory(start uint64, l location) error {
	if l.size == 0 {
		return nil
	}
	if l.size > math.MaxUint64-start || l.at > math.MaxInt64-l.size {
		return fmt.Errorf("memory %#x: %d bytes at offset %#x go beyond the address space or the file", start, l.size, l.at)
	}
	if len(d.memory) == maxRanges {
		return fmt.Errorf("memory %#x: more than %d ranges", start, maxRanges)
	}
	d.memory = append(d.memory, stored.FileRange{Start: start, End: start + l.size, Offset: l.at})
	if err := d.check(l); err != nil {
		return fmt.Errorf("memory %#x: %w", start, err)
	}
	return nil
}

// readMemory reads MINIDUMP_MEMORY_LIST.
func (d *dump) readMemory(_ streamType, l location) error {
	count, start, err := d.listCount(l, descriptorSize)
	if err != nil {
		return err
	}
	var errs errorList
	err = d.eachEntry(l, start, descriptorSize, count, maxRanges, func(b []byte) {
		errs.add(d.addMemory(le.Uint64(b), location{uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[8:]))}))
	})
	errs.add(err)
	return errors.Join(errs...)
}

// readMemory64 reads MINIDUMP_MEMORY64_LIST: ranges that are adjacent in the file.
func (d *dump) readMemory64(_ streamType, l location) error {
	b, err := d.head(l, memoryHeader)
	if err != nil {
		return err
	}
	count, at := le.Uint64(b), le.Uint64(b[8:])
	var errs errorList
	overflow := false
	err = d.eachEntry(l, memoryHeader, descriptorSize, count, maxRanges, func(b []byte) {
		size := le.Uint64(b[8:])
		if overflow = overflow || size > math.MaxInt64-min(at, math.MaxInt64); overflow {
			errs.add(fmt.Errorf("memory %#x: %d bytes at offset %#x: the offset overflows", le.Uint64(b), size, at))
			return
		}
		errs.add(d.addMemory(le.Uint64(b), location{at, size}))
		at += size
	})
	errs.add(err)
	return errors.Join(errs...)
}

// arrange describes the address space by the list of mappings, or else by the modules and
// the ranges of memory.
func (d *dump) arrange() {
	memory := stored.Disjoint(d.memory)
	add := func(start, end uint64, dumped *stored.FileRange, flags elf.ProgFlag) {
		s := stored.Segment{Vaddr: start, Memsz: end - start, Flags: flags}
		if dumped != nil {
			s.Off, s.Filesz = dumped.Offset+(start-dumped.Start), s.Memsz
		}
		if start < end {
			d.Segments = append(d.Segments, s)
		}
	}
	for i := range d.maps {
		m := &d.maps[i]
		flags := flagsOf(m)
		at := m.Start
		for ; len(memory) > 0 && memory[0].Start < m.End; memory = memory[1:] {
			r := &memory[0]
			if r.Start < at {
				add(r.Start, min(r.End, at), r, elf.PF_R|elf.PF_W) // without a mapping
			}
			from, to := max(r.Start, at), min(r.End, m.End)
			add(at, min(from, m.End), nil, flags)
			if from < to {
				add(from, to, r, flags)
				at = to
			}
			if r.End > m.End {
				r.Offset += m.End - r.Start
				r.Start = m.End
				break
			}
		}
		add(at, m.End, nil, flags)
		if strings.HasPrefix(m.Path, "/") { // the kernel writes no relative paths
			path := m.Path
			if m.Deleted {
				path += " (deleted)"
			}
			d.Files = append(d.Files, stored.FileRange{Start: m.Start, End: m.End, Offset: m.Offset, Path: path})
		}
	}
	for i := range memory {
		add(memory[i].Start, memory[i].End, &memory[i], elf.PF_R|elf.PF_W)
	}
	for i := range d.Segments {
		d.Segments[i].Unknown = len(d.maps) == 0
	}
	d.Listed = true
	d.useModules()
	d.Arrange()
	if len(d.maps) > 0 {
		// The mappings of Arrange are split at the dumped ranges, and lack names and devices.
		d.Snapshot.Mappings = d.maps
	}
}

func flagsOf(m *snapshot.Mapping) (flags elf.ProgFlag) {
	if m.Readable {
		flags |= elf.PF_R
	}
	if m.Writable {
		flags |= elf.PF_W
	}
	if m.Executable {
		flags |= elf.PF_X
	}
	return flags
}
