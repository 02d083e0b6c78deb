// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/object"
)

// findProgram marks the module of the program that the kernel started.
func (d *Dump) findProgram() {
	for _, address := range []uint64{d.Auxv[atPHDR], d.Auxv[atEntry], d.Program} {
		if x := d.piece(address); x != nil && x.module != nil {
			x.module.program = true
			return
		}
	}
}

// isProgram returns an error unless a file can be the program: its program headers and
// entry point are where the auxiliary vector says.
func (d *Dump) isProgram(file *object.File) error {
	bias, err := d.programBias(file)
	if err != nil {
		return err
	}
	if entry := d.Auxv[atEntry]; entry != 0 && file.Entry()+bias != entry {
		return fmt.Errorf("its entry point is %#x, that of the dumped program %#x", file.Entry()+bias, entry)
	}
	if n := d.Auxv[atPHNum]; n != 0 && n != uint64(len(file.Segments())) {
		return fmt.Errorf("it has %d program headers, the dumped program %d", len(file.Segments()), n)
	}
	return nil
}

// programBias returns the load bias of the program, if it is file.
func (d *Dump) programBias(file *object.File) (uint64, error) {
	at := d.Auxv[atPHDR]
	if at == 0 {
		return 0, errors.New("the auxiliary vector has no AT_PHDR")
	}
	if p, ok := segment(file.Segments(), elf.PT_PHDR); ok {
		return at - p.Vaddr, nil
	}
	headers := uint64(64) // the program headers follow the ELF header
	if d.Machine.Class == elf.ELFCLASS32 {
		headers = 52
	}
	for _, p := range file.Segments() {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return at - p.Vaddr - headers, nil
		}
	}
	return 0, errors.New("it does not load its program headers")
}

// FindModules finds mapped files that the dump does not list: the program by the
// auxiliary vector, the libraries by the dynamic linker's list.
func (d *Dump) FindModules() {
	d.Files = nil
	name := d.programName()
	if name == "" {
		d.Damaged(errors.New("no mapped files are listed, and the program is not known"))
		return
	}
	program := d.module(name)
	program.program = true
	if err := program.open(); err != nil {
		return // reported as missing
	}
	file, err := object.OpenFile(program.file, name)
	if err != nil {
		d.Damaged(err)
		return
	}
	defer file.Close()
	bias, err := d.programBias(file)
	if err != nil {
		d.Damaged(fmt.Errorf("%s: %w", name, err))
		return
	}
	d.addSegments(name, bias, file.Segments())
	d.Arrange() // the path of the dynamic linker is in the program's file
	if p, ok := segment(file.Segments(), elf.PT_DYNAMIC); ok {
		linked, err := d.linkMap(p.Vaddr+bias, p.Memsz)
		if err != nil {
			d.Damaged(fmt.Errorf("list of the dynamic linker: %w", err))
		}
		for i := range linked {
			d.addLinked(&linked[i])
		}
		if len(d.Files) == maxLinkedRanges {
			d.Damaged(fmt.Errorf("list of the dynamic linker: its objects have %d segments or more", maxLinkedRanges))
		}
	}
	if base := d.Auxv[atBase]; base != 0 && !d.covered(base) {
		// The program crashed before the dynamic linker had made its list.
		if p, ok := segment(file.Segments(), elf.PT_INTERP); ok && p.Filesz < 4096 {
			path := make([]byte, p.Filesz)
			if _, err := program.file.ReadAt(path, int64(p.Off)); err == nil {
				d.addLinked(&linkEntry{path: CString(path), bias: base})
			}
		}
	}
	d.Arrange()
}

// programName returns the path of the program, if the dump or the options contain it.
func (d *Dump) programName() string {
	if at := d.Auxv[atExecFn]; at != 0 {
		if name, err := d.cStringAt(at); err == nil && name != "" {
			return name
		}
	}
	if first, _, _ := strings.Cut(d.Snapshot.Command, " "); strings.Contains(first, "/") {
		return first
	}
	return d.Options.Program
}

// covered reports whether a file was found for an address.
func (d *Dump) covered(addr uint64) bool {
	for i := range d.Files {
		if f := &d.Files[i]; f.Start <= addr && addr < f.End {
			return true
		}
	}
	return false
}

// addSegments adds the segments of a mapped file.
func (d *Dump) addSegments(path string, bias uint64, segments []elf.ProgHeader) {
	page := d.Auxv[atPageSize]
	if page == 0 || page&(page-1) != 0 || page > 1<<20 {
		page = 4096
	}
	for _, p := range segments {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		start := bias + p.Vaddr
		f := FileRange{Start: start &^ (page - 1), End: (start + p.Filesz + page - 1) &^ (page - 1), Offset: p.Off &^ (page - 1), Path: path}
		if len(d.Files) == maxLinkedRanges {
			return
		}
		if f.Start < f.End {
			d.Files = append(d.Files, f)
		}
	}
}

// linkEntry is an entry of the dynamic linker's list.
type linkEntry struct {
	path    string
	bias    uint64
	dynamic uint64 // address of the object's dynamic section, 0 if unknown
}

// addLinked adds an object of the dynamic linker's list, with the segments of its image
// in the dump, or else of the file.
func (d *Dump) addLinked(e *linkEntry) {
	if !strings.Contains(e.path, "/") || e.bias == d.Auxv[atSysInfoEHdr] && e.bias != 0 {
		return // the program itself, which was added before, or the vDSO
	}
	m := d.module(e.path)
	if m.program || m.linked {
		return
	}
	m.linked = true
	m.bias, m.dynamic, m.first = e.bias, e.dynamic, e.bias
	if image, err := d.image(e.bias, e.path); err == nil {
		m.base, m.hasBase = e.bias, true
		d.addSegments(e.path, e.bias, image.Segments())
		return
	}
	if m.open() != nil {
		return // reported as missing
	}
	file, err := object.OpenFile(m.file, e.path)
	if err != nil {
		return
	}
	defer file.Close()
	d.addSegments(e.path, e.bias, file.Segments())
}

// AddModule adds a file that was mapped as a whole at [base, base+size), without ranges in
// the dump. Its segments are those of the image in the dump, or else of the file. Without
// either the range counts as code.
func (d *Dump) AddModule(path string, base, size uint64) {
	m := d.module(path)
	if m.linked || base+size <= base {
		return
	}
	m.linked, m.base, m.hasBase, m.first = true, base, true, base
	if image, err := d.image(base, path); err == nil {
		m.segments = image.Segments()
		d.addSegments(path, image.ImageBias(), m.segments)
		return
	}
	if m.open() == nil {
		if file, err := object.OpenFile(m.file, path); err == nil {
			defer file.Close()
			for _, p := range file.Segments() {
				if p.Type == elf.PT_LOAD {
					m.segments = file.Segments()
					d.addSegments(path, base-p.Vaddr&^(pageSize-1), m.segments)
					return
				}
			}
		}
	}
	d.Files = append(d.Files, FileRange{Start: base, End: base + size, Path: path})
}

const (
	maxLinked = 1 << 14 // objects of one process
	// maxLinkedRanges bounds the ranges of those objects: eight each.
	maxLinkedRanges = 8 * maxLinked
	maxDynamic      = 1 << 10 // entries of a dynamic section
	maxPath         = 4096
)

// linkMap reads the dynamic linker's list, starting at the program's dynamic section:
// struct r_debug and struct link_map of link.h.
func (d *Dump) linkMap(dynamic, size uint64) (list []linkEntry, err error) {
	word := uint64(d.WordSize())
	var debug uint64
	for i := uint64(0); i < min(maxDynamic, size/(2*word)); i++ {
		tag, err := d.wordAt(dynamic + 2*word*i)
		if err != nil {
			return nil, err
		}
		if tag == uint64(elf.DT_NULL) {
			break
		}
		entry := dynamic + 2*word*i
		value, err := d.wordAt(entry + word)
		switch {
		case err != nil || value == 0:
		case tag == uint64(elf.DT_DEBUG):
			debug = value
		case d.Machine.IndirectDebug && tag == dtMIPSRldMap:
			debug, err = d.wordAt(value)
		case d.Machine.IndirectDebug && tag == dtMIPSRldMapRel:
			at := entry + value
			if word == 4 {
				at = uint64(uint32(at))
			}
			debug, err = d.wordAt(at)
		}
		if err != nil {
			return nil, err
		}
	}
	if debug == 0 {
		return nil, nil // static, or the dynamic linker has not yet set it
	}
	at, err := d.wordAt(debug + word)
	seen := make(map[uint64]bool)
	for at != 0 && err == nil {
		if seen[at] {
			return list, fmt.Errorf("it is a cycle with the entry at %#x", at)
		}
		if seen[at] = true; len(list) == maxLinked {
			return list, fmt.Errorf("more than %d entries", maxLinked)
		}
		var e linkEntry
		var name, next uint64
		for i, v := range []*uint64{&e.bias, &name, &e.dynamic, &next} {
			if *v, err = d.wordAt(at + word*uint64(i)); err != nil {
				return list, err
			}
		}
		if name != 0 {
			if e.path, err = d.cStringAt(name); err != nil {
				return list, err
			}
		}
		list = append(list, e)
		at = next
	}
	return list, err
}

// Tags of MIPS, where the dynamic section is read-only and contains the address of a pointer
// to r_debug. (Package elf lacks the second tag.)
const (
	dtMIPSRldMap    = 0x70000016 // DT_MIPS_RLD_MAP: address of that pointer
	dtMIPSRldMapRel = 0x70000035 // DT_MIPS_RLD_MAP_REL: the same, from the tag's address
)

func (d *Dump) wordAt(addr uint64) (uint64, error) {
	var b [8]byte
	p := b[:d.WordSize()]
	if err := d.memory.ReadMemory(p, addr); err != nil {
		return 0, err
	}
	return d.Word(p), nil
}

// cStringAt reads a path of the target.
func (d *Dump) cStringAt(addr uint64) (string, error) {
	var b []byte
	var one [1]byte
	for len(b) < maxPath {
		if err := d.memory.ReadMemory(one[:], addr+uint64(len(b))); err != nil {
			return "", err
		}
		if one[0] == 0 {
			return string(b), nil
		}
		b = append(b, one[0])
	}
	return "", fmt.Errorf("string at %#x: longer than %d bytes", addr, maxPath)
}
