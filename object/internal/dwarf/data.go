// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
)

// Sections are the sections of one file, decompressed and relocated; those
// that the file does not have are nil. They are not copied and not changed.
type Sections struct {
	Abbrev, Info, Line, LineStr, Str, StrOffsets, Addr, Ranges, RngLists []byte
	Aranges                                                              []byte // may be nil

	MoreInfo [][]byte // further sections of that name, which relocatable files have
	Types    [][]byte // .debug_types of DWARF 4

	CUIndex, TUIndex []byte // of a package of split units

	// Locations reads .debug_loc or .debug_loclists: the name is what follows
	// ".debug_". It may be nil.
	Locations func(name string) []byte

	Order binary.ByteOrder
}

// Location is a place in the source.
type Location struct {
	Function string // the linkage name where there is one, "" where the entry is missing
	File     string // "" where the line table has none
	Line     int    // 0 where the line is not known
	Column   int    // 0 where the column is not known
	Inlined  bool   // the function was inlined in that of the next Location
}

// Data is what is known of one file. It must not be used by several goroutines
// at once.
type Data struct {
	order   binary.ByteOrder
	big     bool
	files   Files // nil where no other file is to be opened
	sources []*source

	index []unitRange          // by low
	highs []uint64             // the highest end in index[:i+1]
	lent  bool                 // a Reader has both
	whole bool                 // all units were asked
	loose []uint64             // the starts of units that may not say of all their code where it is
	open  map[uint64]*openUnit // by start of the unit, of the first source

	supplementaryTried bool
	missing            error // why the supplementary file is missing
	packaged           *source
	packagedTypes      *source // of DWARF 4
	packageTried       bool
	packageErr         error
	splits             map[splitName]*splitFile

	size           int             // of sections of entries and ranges
	root           abbreviations   // of rootAbbreviations
	table          abbreviations   // buffer for one that is being read
	lineBuffer     lineTable       // likewise
	functionBuffer []functionRange // likewise
	bodyBuffer     functionBody    // likewise
	abbrevBudget   int
	steps          int               // how many ranges and attributes may still be read
	records        int               // how many records of units and functions may still be kept
	rows           int               // how many of line tables
	bytes          int               // how many bytes of names
	texts          int               // how many bytes of the strings of entries may still be copied
	names          map[uint64]string // of functions, by offset in .debug_info
	damage         []error
	circle         error // the first circle of references that a name was looked for in
	cut            error // the first string that was looked for and is not whole
}

// unitRange is a range of addresses that a unit has code at.
type unitRange struct {
	low, high uint64
	unit      uint64 // its start
}

// openUnit is a unit that an address was looked up in.
type openUnit struct {
	unit      *unit
	root      root
	code      *unit // the one with the entries of functions: unit, or the split one
	codeRoot  root
	low, high uint64 // of all its code
	functions functionTable
	bodies    map[int32]*functionBody // of functions that were asked for theirs
	lines     lineTable
	paths     map[int]string // by number of the file
	sources   []*sourceFile  // once apart
	apart     bool
	instances map[uint64]uint64 // see Data.instances
	err       error
}

var errTooMuch = errors.New("lists overlap: the work would exceed what sections of this size may need")

// New reads where units have code. It fails only where there is nothing to read.
// Other files that the information lies in are opened through files, which may
// be nil.
func New(s Sections, files Files) (*Data, error) {
	switch {
	case len(s.Info) == 0:
		return nil, errors.New("no .debug_info")
	case len(s.Abbrev) == 0:
		return nil, errors.New("no .debug_abbrev, which .debug_info is read by")
	}
	d := newData(s, files)
	src := d.addSource(0, s, s.Info, false, false, make(map[uint64]*abbreviations))
	if d.readAranges(src); len(d.index) == 0 {
		if d.readUnits(src); len(src.units) == 0 {
			return nil, errors.Join(append(d.damage, errors.New(".debug_info: no unit can be read"))...)
		}
		d.indexRest()
	}
	d.sortIndex()
	return d, nil
}

func newData(s Sections, files Files) *Data {
	size := len(s.Info) + len(s.Ranges) + len(s.RngLists)
	return &Data{
		order:        s.Order,
		big:          s.Order == binary.ByteOrder(binary.BigEndian),
		files:        files,
		size:         size,
		splits:       make(map[splitName]*splitFile),
		open:         make(map[uint64]*openUnit),
		abbrevBudget: len(s.Abbrev) + 64<<10,
		steps:        1<<20 + 16*size,
		texts:        mostTexts(size),
		records:      64<<10 + size/4,
		rows:         64<<10 + len(s.Line)*3/4,
		bytes:        16<<20 + len(s.Str) + len(s.Info),
		names:        make(map[uint64]string),
		sources:      make([]*source, supplementaryNumber+1),
	}
}

// mostTexts returns how many bytes of strings may be copied of entries in sections of a
// size: many can have the same long one.
func mostTexts(size int) int { return 32<<20 + 32*size }

func (d *Data) sortIndex() {
	slices.SortFunc(d.index, func(a, b unitRange) int { return cmp.Compare(a.low, b.low) })
	if d.lent {
		d.highs, d.lent = nil, false
	}
	d.highs = slices.Grow(d.highs[:0], len(d.index))
	high := uint64(0)
	for _, r := range d.index {
		high = max(high, r.high)
		d.highs = append(d.highs, high)
	}
}

// more adds code to the index, and reports whether there may be some: of units that
// .debug_aranges lacks, then of units that do not list all their code themselves.
func (d *Data) more() bool {
	if !d.whole {
		d.indexRest()
		d.sortIndex()
		return true
	}
	return d.indexLoose()
}

// indexRest asks all units where they have code.
func (d *Data) indexRest() {
	d.whole = true
	if d.index = d.index[:0]; d.lent {
		d.index = make([]unitRange, 0, cap(d.index))
	}
	for _, u := range d.unitsOf(d.sources[0]) {
		if u.typeUnit {
			continue
		}
		if err := d.indexUnit(u); err != nil {
			d.note(fmt.Errorf("unit at %#x: %w", u.start, err))
		}
	}
}

// indexLoose looks into units that may not say of all their code where it is, once.
// It reports whether there were any.
func (d *Data) indexLoose() bool {
	loose := d.loose
	d.loose = nil
	if len(loose) == 0 {
		return false
	}
	if d.lent {
		d.index = slices.Clone(d.index)
	}
	for _, start := range loose {
		for _, r := range d.openUnit(d.unitStartingAt(start)).functions.ranges {
			if d.records--; d.records < 0 {
				break
			}
			d.index = append(d.index, unitRange{r.low, r.high, start})
		}
	}
	d.sortIndex()
	return true
}

func (d *Data) indexUnit(u *unit) error {
	r, err := d.readRoot(u)
	if err != nil {
		return err
	}
	u.tag = r.tag
	if u.version == 2 && r.line.class != other && r.pc.ranges.class == other {
		// It may have code in several places, which DWARF 2 cannot say: gcc says none of
		// them then, or the first only.
		d.loose = append(d.loose, u.start)
	}
	rangesErr := d.ranges(u, &r, r.pc, func(low, high uint64) bool {
		if d.records--; d.records < 0 {
			err = errTooMuch
			return false
		}
		d.index = append(d.index, unitRange{low, high, u.start})
		return true
	})
	return errors.Join(err, rangesErr)
}

// Damage returns what was found wrong up to now with units that are passed over.
func (d *Data) Damage() error { return errors.Join(d.damage...) }

func (d *Data) note(err error) {
	if len(d.damage) < 32 {
		d.damage = append(d.damage, err)
	}
}

func (d *Data) cursor(section sectionName, data []byte) cursor {
	return newCursor(section, data, d.big)
}

// Locate returns the source of the instruction at addr: the innermost inlined
// call first, the function itself last; none where no unit has the address. Where
// only a part can be read, or units were passed over, that comes with the error.
func (d *Data) Locate(addr uint64) ([]Location, error) {
	var problem error
	i := sort.Search(len(d.index), func(i int) bool { return d.index[i].low > addr }) - 1
	// Ranges of units may overlap: the nearest start is tried first, then some before it.
	for tries := 0; i >= 0 && d.highs[i] > addr && tries < 256; i, tries = i-1, tries+1 {
		if addr >= d.index[i].high {
			continue
		}
		u := d.unitStartingAt(d.index[i].unit)
		if u == nil {
			continue
		}
		o := d.openUnit(u)
		list := d.locateIn(o, addr)
		if len(list) > 0 {
			return list, d.problem(o)
		}
		problem = errors.Join(problem, d.problem(o))
	}
	if d.more() {
		return d.Locate(addr)
	}
	// It may be in a unit that could not be read at all.
	return nil, errors.Join(problem, d.Damage())
}

// problem returns what was wrong with a unit, with what names are in, or with what
// leads to them.
func (d *Data) problem(o *openUnit) error {
	if d.missing == nil && d.circle == nil && d.cut == nil {
		return o.err
	}
	return errors.Join(o.err, d.missing, d.circle, d.cut)
}

// openUnit reads the functions and the line table of a unit of the first source at its
// first use.
func (d *Data) openUnit(u *unit) *openUnit {
	if o, ok := d.open[u.start]; ok {
		return o
	}
	o := &openUnit{unit: u, code: u}
	d.open[u.start] = o
	_, _ = d.abbreviationsOf(u) // which readFunctions needs; readRoot would look for one of them
	if o.root, o.err = d.readRoot(u); o.err == nil {
		var err error
		o.low = ^uint64(0)
		d.ranges(u, &o.root, o.root.pc, func(low, high uint64) bool { // indexUnit reported the error
			o.low, o.high = min(o.low, low), max(o.high, high)
			return true
		})
		splitErr := d.openSplit(o)
		o.functions, o.err = d.readFunctions(o.code, &o.codeRoot)
		o.lines, err = d.readLines(u, &o.root)
		o.err = errors.Join(splitErr, o.code.cut, o.err, err)
	}
	if o.err != nil {
		o.err = fmt.Errorf("unit at %#x: %w", u.start, o.err)
	}
	return o
}

func (d *Data) locateIn(o *openUnit, addr uint64) []Location {
	file, line, column := o.lines.find(addr)
	here := Location{File: d.fileName(o, file), Line: line, Column: column}
	var list []Location
	function := o.functions.find(addr)
	body, chain := d.inlinedAt(o, function, addr)
	for k := len(chain) - 1; k >= 0; k-- {
		in := &body.inlined[chain[k]]
		here.Function, here.Inlined = d.functionName(in.entry), true
		list = append(list, here)
		here = Location{File: d.fileName(o, int(in.callFile)), Line: int(in.callLine), Column: int(in.callColumn)}
	}
	if function != nil {
		here.Function = d.functionName(function.entry)
	} else if here.Line == 0 && len(list) == 0 {
		return nil
	}
	return append(list, here)
}

// fileName returns the path of a file of the unit's line table, "" also where
// the names that were returned reach what the sections can hold.
func (d *Data) fileName(o *openUnit, file int) string {
	if file < 0 || file >= len(o.lines.files) {
		return ""
	}
	name, ok := o.paths[file]
	if !ok {
		name = d.charge(d.readPath(o, file))
		if o.paths == nil {
			o.paths = make(map[int]string)
		}
		o.paths[file] = name
	}
	return name
}

// charge returns s unless names have grown too large. Names in the sections can
// overlap, but not in files that a compiler wrote.
func (d *Data) charge(s string) string {
	if d.bytes -= len(s); d.bytes < 0 {
		return ""
	}
	return s
}

func (d *Data) readPath(o *openUnit, file int) string {
	t, u := &o.lines, o.unit
	name := string(d.text(u, &o.root, t.files[file].name))
	if name == "" || path.IsAbs(name) {
		return name
	}
	dir, i := "", int(t.files[file].dir)
	if i < len(t.dirs) {
		dir = string(d.text(u, &o.root, t.dirs[i]))
	}
	// Directory 0 is that of the compilation, which may be a relative path.
	if !path.IsAbs(dir) && (i != 0 || dir == "") {
		dir = path.Join(string(d.text(u, &o.root, o.root.dir)), dir)
	}
	return path.Join(dir, name)
}

// maxInlined bounds a chain of inlined calls; compilers stop far below it.
const maxInlined = 512
