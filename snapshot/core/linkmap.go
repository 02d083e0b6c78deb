// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/object"
)

// findProgram marks the module that the kernel has started.
func (c *Core) findProgram() {
	for _, key := range []uint64{atPHDR, atEntry} {
		if x := c.piece(c.notes.auxv[key]); x != nil && x.module != nil {
			x.module.program = true
			return
		}
	}
}

// isProgram returns an error unless a file can be the program: its headers and
// its entry are where the auxiliary vector says.
func (c *Core) isProgram(file *object.File) error {
	bias, err := c.programBias(file)
	if err != nil {
		return err
	}
	if entry := c.notes.auxv[atEntry]; entry != 0 && file.Entry()+bias != entry {
		return fmt.Errorf("it starts at %#x, the core's program at %#x", file.Entry()+bias, entry)
	}
	if n := c.notes.auxv[atPHNum]; n != 0 && n != uint64(len(file.Segments())) {
		return fmt.Errorf("it has %d program headers, the core's program %d", len(file.Segments()), n)
	}
	return nil
}

// programBias returns the load bias of the program, if it is file.
func (c *Core) programBias(file *object.File) (uint64, error) {
	at := c.notes.auxv[atPHDR]
	if at == 0 {
		return 0, errors.New("the core does not tell where its program was loaded")
	}
	if p, ok := segment(file.Segments(), elf.PT_PHDR); ok {
		return at - p.Vaddr, nil
	}
	headers := uint64(64) // the program headers stand behind the header
	if c.header.class == elf.ELFCLASS32 {
		headers = 52
	}
	for _, p := range file.Segments() {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return at - p.Vaddr - headers, nil
		}
	}
	return 0, errors.New("it does not load its program headers")
}

// findModules finds what was mapped where the core does not list it: the
// program by the auxiliary vector, the libraries by the dynamic linker's list.
func (c *Core) findModules() {
	c.notes.files = nil
	name := c.programName()
	if name == "" {
		c.damaged(errors.New("the core names no mapped files, and its program is not known"))
		return
	}
	program := c.module(name)
	program.program = true
	if err := program.open(); err != nil {
		return // and told as missing
	}
	file, err := object.OpenFile(program.file, name)
	if err != nil {
		c.damaged(err)
		return
	}
	defer file.Close()
	bias, err := c.programBias(file)
	if err != nil {
		c.damaged(fmt.Errorf("%s: %w", name, err))
		return
	}
	c.addSegments(name, bias, file.Segments())
	c.rearrange() // the path of the dynamic linker is in the program's file
	if p, ok := segment(file.Segments(), elf.PT_DYNAMIC); ok {
		linked, err := c.linkMap(p.Vaddr+bias, p.Memsz)
		if err != nil {
			c.damaged(fmt.Errorf("list of the dynamic linker: %w", err))
		}
		for i := range linked {
			c.addLinked(&linked[i])
		}
		if len(c.notes.files) == maxLinkedRanges {
			c.damaged(fmt.Errorf("list of the dynamic linker: its objects have %d segments or more", maxLinkedRanges))
		}
	}
	if base := c.notes.auxv[atBase]; base != 0 && !c.covered(base) {
		// It crashed before the dynamic linker had made its list.
		if p, ok := segment(file.Segments(), elf.PT_INTERP); ok && p.Filesz < 4096 {
			path := make([]byte, p.Filesz)
			if _, err := program.file.ReadAt(path, int64(p.Off)); err == nil {
				c.addLinked(&linkEntry{path: cString(path), bias: base})
			}
		}
	}
	c.rearrange()
}

// programName returns the path of the program, as far as the core or the options
// have it.
func (c *Core) programName() string {
	if at := c.notes.auxv[atExecFn]; at != 0 {
		if name, err := c.cStringAt(at); err == nil && name != "" {
			return name
		}
	}
	if first, _, _ := strings.Cut(c.notes.command, " "); strings.Contains(first, "/") {
		return first
	}
	return c.options.Program
}

// covered reports whether a file was found for an address.
func (c *Core) covered(addr uint64) bool {
	for i := range c.notes.files {
		if f := &c.notes.files[i]; f.start <= addr && addr < f.end {
			return true
		}
	}
	return false
}

// addSegments says that a file's segments were mapped.
func (c *Core) addSegments(path string, bias uint64, segments []elf.ProgHeader) {
	page := c.notes.auxv[atPageSize]
	if page == 0 || page&(page-1) != 0 || page > 1<<20 {
		page = 4096
	}
	for _, p := range segments {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		start := bias + p.Vaddr
		f := fileRange{start: start &^ (page - 1), end: (start + p.Filesz + page - 1) &^ (page - 1), offset: p.Off &^ (page - 1), path: path}
		if len(c.notes.files) == maxLinkedRanges {
			return
		}
		if f.start < f.end {
			c.notes.files = append(c.notes.files, f)
		}
	}
}

// linkEntry is an entry of the dynamic linker's list.
type linkEntry struct {
	path    string
	bias    uint64
	dynamic uint64 // address of the object's dynamic section, 0 where it is not known
}

// addLinked adds an object of the dynamic linker's list. Its segments are those
// of the image, where the core has that, else those of the file.
func (c *Core) addLinked(e *linkEntry) {
	if !strings.Contains(e.path, "/") || e.bias == c.notes.auxv[atSysInfoEHdr] && e.bias != 0 {
		return // the program itself, which is added already; the vDSO
	}
	m := c.module(e.path)
	if m.program || m.linked {
		return
	}
	m.linked = true
	m.bias, m.dynamic, m.first = e.bias, e.dynamic, e.bias
	if image, err := c.image(e.bias, e.path); err == nil {
		m.base, m.hasBase = e.bias, true
		c.addSegments(e.path, e.bias, image.Segments())
		return
	}
	if m.open() != nil {
		return // and told as missing
	}
	file, err := object.OpenFile(m.file, e.path)
	if err != nil {
		return
	}
	defer file.Close()
	c.addSegments(e.path, e.bias, file.Segments())
}

const (
	maxLinked = 1 << 14 // objects of one process
	// maxLinkedRanges bounds what those objects have mapped: eight ranges each.
	maxLinkedRanges = 8 * maxLinked
	maxDynamic      = 1 << 10 // entries of a dynamic section
	maxPath         = 4096
)

// linkMap reads the dynamic linker's list, to which the program's dynamic section
// leads: struct r_debug and struct link_map of link.h.
func (c *Core) linkMap(dynamic, size uint64) (list []linkEntry, err error) {
	word := uint64(c.wordSize())
	var debug uint64
	for i := uint64(0); i < min(maxDynamic, size/(2*word)); i++ {
		tag, err := c.wordAt(dynamic + 2*word*i)
		if err != nil {
			return nil, err
		}
		if tag == uint64(elf.DT_NULL) {
			break
		}
		entry := dynamic + 2*word*i
		value, err := c.wordAt(entry + word)
		mips := c.header.machine.ELF == elf.EM_MIPS
		switch {
		case err != nil || value == 0:
		case tag == uint64(elf.DT_DEBUG):
			debug = value
		case mips && tag == dtMIPSRldMap:
			debug, err = c.wordAt(value)
		case mips && tag == dtMIPSRldMapRel:
			debug, err = c.wordAt(c.truncate(entry + value))
		}
		if err != nil {
			return nil, err
		}
	}
	if debug == 0 {
		return nil, nil // static, or the dynamic linker has not come so far
	}
	at, err := c.wordAt(debug + word)
	seen := make(map[uint64]bool)
	for at != 0 && err == nil {
		if seen[at] {
			return list, fmt.Errorf("it comes back to the entry at %#x", at)
		}
		if seen[at] = true; len(list) == maxLinked {
			return list, fmt.Errorf("more than %d entries", maxLinked)
		}
		var e linkEntry
		var name, next uint64
		for i, v := range []*uint64{&e.bias, &name, &e.dynamic, &next} {
			if *v, err = c.wordAt(at + word*uint64(i)); err != nil {
				return list, err
			}
		}
		if name != 0 {
			if e.path, err = c.cStringAt(name); err != nil {
				return list, err
			}
		}
		list = append(list, e)
		at = next
	}
	return list, err
}

// Tags of MIPS, whose dynamic section is not written to and so leads to a pointer to
// r_debug. (Package elf lacks the second one.)
const (
	dtMIPSRldMap    = 0x70000016 // DT_MIPS_RLD_MAP: address of that pointer
	dtMIPSRldMapRel = 0x70000035 // DT_MIPS_RLD_MAP_REL: the same, from the tag's address
)

// truncate returns an address of the core's width.
func (c *Core) truncate(addr uint64) uint64 {
	if c.header.class == elf.ELFCLASS32 {
		return addr & 0xffffffff
	}
	return addr
}

func (c *Core) wordAt(addr uint64) (uint64, error) {
	var b [8]byte
	p := b[:c.wordSize()]
	if err := c.memory.ReadMemory(p, addr); err != nil {
		return 0, err
	}
	return c.word(p), nil
}

// cStringAt reads a path of the target.
func (c *Core) cStringAt(addr uint64) (string, error) {
	var b []byte
	var one [1]byte
	for len(b) < maxPath {
		if err := c.memory.ReadMemory(one[:], addr+uint64(len(b))); err != nil {
			return "", err
		}
		if one[0] == 0 {
			return string(b), nil
		}
		b = append(b, one[0])
	}
	return "", fmt.Errorf("string at %#x: longer than %d bytes", addr, maxPath)
}
