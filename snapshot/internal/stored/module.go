// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
)

// module is a mapped file.
type module struct {
	dump    *Dump
	path    string // in the target
	deleted bool   // the file was deleted or replaced
	program bool   // it is the program

	first   uint64 // its lowest mapped address
	base    uint64 // address of the file's first byte
	hasBase bool

	segments []elf.ProgHeader // set by AddModule

	// For modules that only the dynamic linker lists:
	linked  bool
	looked  bool // findData examined it
	bias    uint64
	dynamic uint64 // address of its dynamic section

	once   sync.Once
	id     []byte // build ID in the dump
	prefix []byte // start of the build ID, if the dump has no more
	notELF bool   // by its first bytes in the dump, or in the file now at the path
	file   *os.File
	place  debugfile.Place // of file
	err    error
}

// add records that the file's byte at an offset was mapped at an address.
func (m *module) add(start, offset uint64) {
	if m.first == 0 || start < m.first {
		m.first = start
	}
	if offset == 0 && !m.hasBase {
		m.base, m.hasBase = start, true
	}
}

// open finds the module's file once.
func (m *module) open() error {
	m.once.Do(func() {
		m.identify()
		s := &m.dump.Options.Search
		if m.file, m.place, m.err = s.Open(m.wanted()); m.err != nil && !m.notELF {
			m.dump.missed(m)
		}
		if program := m.dump.Options.Program; m.err == nil && m.program && program != "" && m.place.Path != program {
			m.refuseProgram(program)
		}
	})
	return m.err
}

// refuseProgram reports why the file given as the program is not the program.
func (m *module) refuseProgram(path string) {
	w := m.wanted()
	w.Path, w.Places = "", []debugfile.Place{{Path: path, Named: true}}
	alone := debugfile.Search{Stores: []debugfile.Store{}}
	f, _, err := alone.Open(w)
	if err == nil {
		f.Close() // another path leads to it
		return
	}
	refused := &module{dump: m.dump, path: path, first: m.first, id: m.id, err: err}
	m.dump.missed(refused)
}

// identify reads the dump's copy of the file's first page, with the ELF header, which
// kernels dump by default.
func (m *module) identify() {
	if id, ok := m.dump.BuildIDs[m.base]; ok && m.hasBase {
		if !id.Prefix {
			m.id = id.Bytes
			return
		}
		m.prefix = id.Bytes
	}
	var magic [4]byte
	if !m.hasBase || m.dump.dumped.ReadMemory(magic[:], m.base) != nil {
		return
	}
	if m.notELF = string(magic[:]) != elf.ELFMAG; m.notELF {
		return
	}
	if image, err := m.dump.image(m.base, m.path); err == nil {
		m.id = image.BuildID()
	}
}

// beside returns the path of the file in the directory of the dump.
func (d *Dump) beside(name string) string {
	dir := d.dir
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(name))
}

// wanted returns the known properties of the module's file.
func (m *module) wanted() *debugfile.Module {
	opts := &m.dump.Options
	w := &debugfile.Module{Path: m.path, BuildID: m.id, Machine: m.dump.Machine, Stale: m.deleted, Same: m.same}
	w.Data = m.notELF || !m.hasBase && m.dynamic == 0 && !m.program
	add := func(path string, stale bool) {
		place := debugfile.Place{Path: path}
		if stale {
			place.Trust = debugfile.Doubtful
		}
		w.Places = append(w.Places, place)
	}
	if m.program && opts.Program != "" {
		w.Places = append(w.Places, debugfile.Place{Path: opts.Program, Named: true})
	}
	if m.program && len(m.id) > 0 {
		// A dump is often sent together with its program. The build ID must prove it.
		if beside := m.dump.beside(m.path); beside != m.path {
			add(beside, true)
		}
	}
	emulated := m.program && !m.dump.Listed
	switch {
	case path.IsAbs(m.path):
		if emulated && opts.Search.Root != "" {
			// An emulator's program is next to the root of its libraries.
			add(m.path, m.deleted)
		}
	case strings.Contains(m.path, "/"):
		elsewhere := m.deleted || opts.Search.Root != "" && !emulated
		add(m.path, elsewhere)
		// A kernel writes the core to the directory that the path is relative to.
		add(filepath.Join(m.dump.dir, m.path), elsewhere)
	}
	return w
}

// same reports whether a file can be the mapped one if the dump does not have its build
// ID.
func (m *module) same(f *os.File, file *object.File) (proved bool, err error) {
	if proved, err = m.samePage(f); err != nil || file == nil {
		return proved, err
	}
	if h, machine := m.dump.Machine, file.Machine(); machine.Class != h.Class || machine.Order != h.Order {
		return false, fmt.Errorf("it is of %v and %v", machine.Class, machine.Order)
	}
	if id := file.BuildID(); m.prefix != nil && len(id) > 0 {
		if !bytes.HasPrefix(id, m.prefix) {
			return false, fmt.Errorf("its build ID is %x, expected one that starts with %x", id, m.prefix)
		}
		proved = true
	}
	if m.program && m.dump.Auxv[atPHDR] != 0 {
		if err := m.dump.isProgram(file); err != nil {
			return false, err
		}
		proved = true
	}
	if m.dynamic != 0 {
		if at, ok := segment(file.Segments(), elf.PT_DYNAMIC); !ok || at.Vaddr+m.bias != m.dynamic {
			return false, errors.New("its dynamic section is not where the dynamic linker has it")
		}
		proved = true
	}
	return proved, nil
}

// samePage reports whether the dump has the first page of the file; if so, it must be
// equal.
func (m *module) samePage(f *os.File) (same bool, err error) {
	if !m.hasBase {
		return false, nil
	}
	if x := m.dump.piece(m.base); x == nil || x.written {
		return false, nil
	}
	return debugfile.SamePage(m.dump.dumped, m.base, f, 0, 512)
}

// readAt reads from the module's file. In the file's last page, bytes after the end of the
// file are zero.
func (m *module) readAt(p []byte, offset uint64) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if offset > 1<<62 {
		return 0, fmt.Errorf("%s: offset %#x", m.path, offset)
	}
	n, err := m.file.ReadAt(p, int64(offset))
	if err != io.EOF {
		return n, err
	}
	const page = 4096
	last := (offset + uint64(n) + page - 1) &^ (page - 1)
	for n < len(p) && offset+uint64(n) < last {
		p[n] = 0
		n++
	}
	if n == len(p) {
		err = nil
	} else {
		err = fmt.Errorf("%s: it ends before offset %#x", m.path, offset+uint64(n))
	}
	return n, err
}

func segment(list []elf.ProgHeader, typ elf.ProgType) (elf.ProgHeader, bool) {
	for _, p := range list {
		if p.Type == typ {
			return p, true
		}
	}
	return elf.ProgHeader{}, false
}
