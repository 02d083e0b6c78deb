// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/dwarf"
)

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
