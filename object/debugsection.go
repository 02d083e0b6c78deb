// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/clewdev/clew/object/internal/dwarf"
)

// findDebug returns the index of a section of debugging information.
func (f *File) findDebug(name string) (index int, ok bool) {
	if index, ok = f.find(".debug_" + name); !ok {
		index, ok = f.find(".zdebug_" + name)
	}
	return index, ok
}

// debugSections returns the sections that can be read, with the errors of the others. suffix
// is "" for a linked file and ".dwo" for a file with split units.
func (f *File) debugSections(suffix string) (dwarf.Sections, error) {
	s := dwarf.Sections{Order: f.order, Locations: f.locations("info" + suffix)}
	wanted := []struct {
		data    *[]byte
		name    string
		inSplit bool // a file with split units can have it
		err     error
	}{
		{&s.Info, "info", true, nil}, {&s.Abbrev, "abbrev", true, nil}, {&s.Line, "line", true, nil},
		{&s.LineStr, "line_str", false, nil}, {&s.Str, "str", true, nil}, {&s.StrOffsets, "str_offsets", true, nil},
		{&s.Addr, "addr", false, nil}, {&s.Ranges, "ranges", false, nil}, {&s.RngLists, "rnglists", true, nil},
		{&s.Aranges, "aranges", false, nil},
	}
	// Decompression takes most of the time.
	var group sync.WaitGroup
	defer group.Wait() // also after a fault: no goroutine may read a closed file
	for k := range wanted {
		want := &wanted[k]
		i, ok := f.findDebug(want.name + suffix)
		if !ok || suffix != "" && !want.inSplit {
			continue
		}
		group.Go(func() {
			want.err = Guard(func() (err error) {
				*want.data, err = f.content(i)
				return err
			})
		})
	}
	group.Wait()
	var problems problems
	for _, want := range wanted {
		problems.add(want.err)
	}
	problems.add(f.addUnits(&s, "info"+suffix))
	return s, problems.err()
}

// addUnits adds the sections of units after the first: sections of type units, and in a
// relocatable file those of other section groups.
func (f *File) addUnits(s *dwarf.Sections, info string) error {
	types := strings.Replace(info, "info", "types", 1)
	var problem error
	first := true
	for i := range f.sectionCount() {
		h := f.section(i)
		if h.typ == elf.SHT_NOBITS {
			continue
		}
		isInfo := hasName(f.names, uint64(h.name), ".debug_"+info)
		if !isInfo && !hasName(f.names, uint64(h.name), ".debug_"+types) && !hasName(f.names, uint64(h.name), ".zdebug_"+types) {
			continue
		}
		if isInfo && (first || f.typ != elf.ET_REL) {
			first = false
			continue
		}
		data, err := f.content(i)
		problem = errors.Join(problem, err)
		if isInfo {
			s.MoreInfo = append(s.MoreInfo, data)
		} else {
			s.Types = append(s.Types, data)
		}
	}
	return problem
}

// locations returns the function that reads a section of location lists. info is the name
// of the file's section of units.
func (f *File) locations(info string) func(string) []byte {
	return func(name string) []byte {
		i, ok := f.findDebug(strings.Replace(info, "info", name, 1))
		if !ok {
			return nil
		}
		data, err := f.content(i)
		if err != nil {
			f.note(err) // data is the part that could be read
		}
		return data
	}
}

// The types of the debugging information as package value reads it, entry by entry.
type (
	DebugReader = dwarf.Reader // reads units and their entries
	DebugEntry  = dwarf.Entry  // an entry with its attributes
	DebugField  = dwarf.Field  // an attribute
	DebugUnit   = dwarf.Unit   // a unit: its language, version and first entry
	DebugOffset = dwarf.Offset // the position of an entry
)

// DebugReader returns a reader of the entries of the debugging information of the
// file, or of its separate debug file: of variables, types and locations too, which the
// methods of File do not return. After [File.OpenDebugFile] it opens parts in other files
// when it needs them. It returns nil and no error if there is no debugging information.
//
// Its results are views of the files: see [Guard]. It must not be used after [File.Close].
func (f *File) DebugReader() (r *DebugReader, err error) {
	r, err = guarded(func() (*DebugReader, error) {
		l, err := f.lines()
		if l == nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.data.Reader()
	})
	if err != nil {
		return nil, fmt.Errorf("%s: debugging information: %w", f.name, err)
	}
	if d := f.debug.Load(); r == nil && d != nil {
		return d.DebugReader()
	}
	return r, nil
}

// HasDebugInfo reports whether the file, or its separate debug file, has DWARF
// debugging information. A Go program linked with -w does not.
func (f *File) HasDebugInfo() bool {
	d := f.debug.Load()
	return f.ownsDebugInfo() || d != nil && d.ownsDebugInfo()
}

func (f *File) ownsDebugInfo() (ok bool) {
	f.noteFault(func() {
		_, plain := f.find(".debug_info")
		_, compressed := f.find(".zdebug_info")
		ok = plain || compressed
	})
	return ok
}

// DebugInfoName returns the name of the file that [File.DebugReader] and [File.Locate] read:
// f, or its separate debug file if only the debug file has DWARF debugging information.
func (f *File) DebugInfoName() string {
	if d := f.debug.Load(); d != nil && !f.ownsDebugInfo() {
		return d.name
	}
	return f.name
}
