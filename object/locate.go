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
	// Function is the linkage name of the function (mangled, where the
	// language mangles), "" where the debugging information names none.
	Function string
	File     string // path as compiled, "" where it is not known
	Line     int    // 0 where it is not known
	Column   int    // 0 where it is not known
	Inlined  bool   // the function was inlined in that of the next Location
}

// lines is the debugging information of one file, opened at first use.
type lines struct {
	mu   sync.Mutex
	data *dwarf.Data
}

// Locate returns the source of the instruction at addr: the innermost inlined
// call first, and last the function that was called. It comes from the DWARF
// information of the file or of its separate debug file, else, for a Go
// program, from .gopclntab. Without either, and for an address that they do not
// have, it returns nothing and no error. An address that was returned to (every
// frame's but the innermost) belongs to the line of the call: pass the address
// less one.
//
// The first call reads which units have code where, later ones the units that are met;
// both are kept. With an error comes what could be read all the same.
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

// locate asks the debugging information of the file, else of its separate debug
// file. The error names the one that it is of.
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

// openLines reads which units have code where; it returns nil where the file has no
// debugging information.
func (f *File) openLines() (l *lines, err error) {
	fault := Guard(func() error {
		l, err = f.readLines()
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	return l, err
}

func (f *File) readLines() (*lines, error) {
	var problems problems
	s, err := f.debugSections()
	problems.addAll(err)
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

// LineRange is the code from one row of a line table to the next. Tables are
// read as gdb 13 reads them: rows of several files are told apart, rows that say
// again what line it is because of a discriminator are one, and rows of no line
// belong to the line before them.
type LineRange struct {
	Start, End uint64 // addresses: of the row, and of the next that is elsewhere
	File       string // path as compiled
	Line       int    // from 1 on; 0 where no row has the address
	Column     int    // 0 where it is not known

	Statement     bool // a breakpoint may be set at Start (is_stmt)
	PrologueEnd   bool // the function's body begins at Start, as few compilers say
	EpilogueBegin bool
}

// LineRange returns the row of the line table that holds addr, the zero
// LineRange where there is none. A line may have several rows one behind the
// other; a debugger's step by line ends at Start of any row that is a statement
// and of another line. It reads the DWARF information of the file, or of its
// separate debug file.
func (f *File) LineRange(addr uint64) (r LineRange, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, _, err := d.LineRange(addr)
		r = LineRange(found)
		return err
	})
	return r, err
}

// FindLine returns the addresses at which a breakpoint for a line of the source
// is set, in ascending order: one in each function, inlined call and block that
// has code of it, moved behind the prologue where it is in one. Where the line
// has none, it is the nearest later one that has. The file is named by its path
// or the last components of it: "fib.c", "src/fib.c". Nothing is found, without
// an error, where there is no such file or line.
//
// Prologues are found as [File.AfterPrologue] does, for which code is needed.
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

// withLines calls read with the debugging information of the file, else of its
// separate debug file; not at all where there is none.
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
