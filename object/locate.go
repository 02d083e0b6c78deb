// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/dwarf"
)

// Location is a place in the source.
type Location struct {
	// Function is the linkage name of the function (mangled, if the language mangles), ""
	// if the debugging information has none.
	Function string
	File     string // path as compiled, "" if unknown
	Line     int    // 0 if unknown
	Column   int    // 0 if unknown
	Inlined  bool   // the function was inlined in that of the next Location
}

// lines is the debugging information of one file, opened at first use.
type lines struct {
	mu   sync.Mutex
	data *dwarf.Data
}

// Locate returns the source location of the instruction at addr: the innermost inlined
// call first, and last the function itself. It uses the DWARF information of the file or
// of its separate debug file, else, for a Go program, .gopclntab. Without either, and for
// an address that they lack, the list is empty and the error nil. With an error comes the
// part that could be read.
//
// A return address (of every frame but the innermost) is after the call. For the line of
// the call pass the address less one.
//
// The first call reads an index of the units, later calls the units that they need. The
// File keeps both.
func (f *File) Locate(addr uint64) ([]Location, error) {
	var list []Location
	var err error
	fault := Guard(func() error {
		if list, err = f.locate(addr); len(list) == 0 {
			list = f.locateGo(addr)
		}
		return nil
	})
	return list, errors.Join(err, f.named(fault))
}

// locate reads the debugging information of the file, else of its separate debug file. The
// error names the file.
func (f *File) locate(addr uint64) ([]Location, error) {
	l, err := f.lines()
	if l == nil {
		if d := f.debug.Load(); d != nil {
			list, debugErr := d.locate(addr)
			return list, errors.Join(f.named(err), debugErr)
		}
		return nil, f.named(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err := l.data.Locate(addr)
	list := make([]Location, len(found))
	for i, at := range found {
		list[i] = Location(at)
	}
	return list, f.named(err)
}

// readLines opens the debugging information; nil if the file has none.
func (f *File) readLines() (*lines, error) {
	var problems problems
	s, err := f.debugSections()
	problems.add(err)
	if len(s.Info) == 0 {
		return nil, problems.err()
	}
	data, err := dwarf.New(s, debugParts{f})
	if err != nil {
		problems.add(err)
		return nil, problems.err()
	}
	for _, err := range []error{problems.err(), data.Damage()} {
		if err != nil {
			f.note(fmt.Errorf("debugging information: %w", err))
		}
	}
	return &lines{data: data}, nil
}

// LineRange is the code from one row of a line table to the next. Tables are read as in
// gdb 13: rows of several files are distinct, consecutive rows of one line that differ in
// the discriminator are one, and rows without a line belong to the line before them.
type LineRange struct {
	Start, End uint64 // addresses: [Start, End)
	File       string // path as compiled
	Line       int    // from 1 on; 0 if no row has the address
	Column     int    // 0 if unknown

	Statement     bool // a breakpoint may be set at Start (is_stmt)
	PrologueEnd   bool // the function's body begins at Start; few compilers write it
	EpilogueBegin bool
}

// LineRange returns the row of the line table that contains addr, the zero LineRange if
// there is none. A line may have several consecutive rows; a debugger's step by line ends
// at Start of a row that is a statement and of another line. LineRange reads the DWARF
// information of the file, or of its separate debug file.
func (f *File) LineRange(addr uint64) (r LineRange, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, _, err := d.LineRange(addr)
		r = LineRange(found)
		return err
	})
	return r, err
}

// FindLine returns the addresses of a breakpoint for a line of the source, in ascending
// order: one in each function, inlined call and block with code of the line. Addresses in
// a prologue are moved after it. If the line has no code, FindLine uses the nearest later
// line that has. The file is a path or its last components: "fib.c", "src/fib.c". Without
// such a file or line the list is empty and the error nil.
//
// FindLine finds prologues as [File.AfterPrologue] does, in code.
func (f *File) FindLine(code cfi.Memory, file string, line int) (addrs []uint64, err error) {
	if line <= 0 || uint64(line) >= 1<<31 {
		return nil, nil
	}
	prologues := f.prologues(code)
	err = f.withLines(func(d *dwarf.Data) error {
		addrs, err = d.LineAddresses(file, uint32(line), prologues)
		return err
	})
	return addrs, err
}

// withLines calls read with the debugging information of the file, else of its separate
// debug file. Without either it does not call read.
func (f *File) withLines(read func(*dwarf.Data) error) error {
	var debug *File
	err := Guard(func() error {
		l, err := f.lines()
		if l == nil {
			debug = f.debug.Load()
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return read(l.data)
	})
	if err = f.named(err); debug != nil {
		err = errors.Join(err, debug.withLines(read))
	}
	return err
}
