// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
	"sync"

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

func (f *File) locateGo(addr uint64) []Location {
	t, _ := f.goTable()
	if t == nil {
		return nil
	}
	fn, ok := t.find(addr)
	if !ok {
		return nil
	}
	return t.locations(&fn, addr)
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
