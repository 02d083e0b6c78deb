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

// Sections are the sections of one file, decompressed and relocated. Sections that the
// file does not have are nil. They are not copied and not changed.
type Sections struct {
	Abbrev, Info, Line, LineStr, Str, StrOffsets, Addr, Ranges, RngLists []byte
	Aranges                                                              []byte // may be nil

	MoreInfo [][]byte // further sections .debug_info, of relocatable files
	Types    [][]byte // .debug_types of DWARF 4

	CUIndex, TUIndex []byte // of a package of split units

	// Locations reads .debug_loc or .debug_loclists: the name is without ".debug_". It may
	// be nil.
	Locations func(name string) []byte

	Order binary.ByteOrder
}

// Location is a place in the source.
type Location struct {
	Function string // the linkage name if there is one, "" if the entry is missing
	File     string // "" if unknown
	Line     int    // 0 if unknown
	Column   int    // 0 if unknown
	Inlined  bool   // the function was inlined in that of the next Location
}

// Data is the debugging information of one file. It must not be used by several
// goroutines at once.
type Data struct {
	order   binary.ByteOrder
	big     bool
	files   Files // nil if no other file may be opened
	sources []*source

	index []unitRange          // by low
	highs []uint64             // the highest end in index[:i+1]
	lent  bool                 // a Reader shares both
	whole bool                 // the index has the code of all units
	loose []uint64             // the starts of units that may not list all their code
	open  map[uint64]*openUnit // by start of the unit, of the first source

	supplementaryTried bool
	missing            error // why the supplementary file is missing
	packaged           *source
	packagedTypes      *source // of DWARF 4
	packageTried       bool
	packageErr         error
	splits             map[splitName]*splitFile

	size int           // bytes of the sections with entries and ranges
	root abbreviations // of rootAbbreviations

	// Buffers for the tables that are being read.
	table          abbreviations
	lineBuffer     lineTable
	functionBuffer []functionRange
	bodyBuffer     functionBody

	// Budgets: what may still be read or kept.
	abbrevBudget int // bytes of abbreviations
	steps        int // ranges and attributes to read
	records      int // records of units and functions to keep
	rows         int // rows of line tables to keep
	bytes        int // bytes of names to keep
	texts        int // bytes to copy of the strings of entries

	names  map[uint64]string // of functions, by offset in .debug_info
	damage []error
	circle error // the first circle of references in the search for a name
	cut    error // the first needed string that exceeds its section
}

// unitRange is a range of addresses of a unit's code.
type unitRange struct {
	low, high uint64
	unit      uint64 // its start
}

// openUnit is a unit in which an address was looked up.
type openUnit struct {
	unit      *unit
	root      root
	code      *unit // the unit with the entries of functions: unit itself, or the split unit
	codeRoot  root
	low, high uint64 // the range around all its code
	functions functionTable
	bodies    map[int32]*functionBody // those read so far
	lines     lineTable
	paths     map[int]string // by number of the file
	sources   []*sourceFile  // if split is set: see sourceFiles
	split     bool
	instances map[uint64]uint64 // see Data.instances
	err       error
}

var errTooMuch = errors.New("lists overlap: the work would exceed what sections of this size may need")

// New reads the addresses of the units' code. It fails only if no unit can be read. It
// opens other files with parts of the information through files, which may be nil.
func New(s Sections, files Files) (*Data, error) {
	switch {
	case len(s.Info) == 0:
		return nil, errors.New("no .debug_info")
	case len(s.Abbrev) == 0:
		return nil, errors.New("no .debug_abbrev, which describes .debug_info")
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
	d := &Data{
		order:        s.Order,
		big:          s.Order == binary.ByteOrder(binary.BigEndian),
		files:        files,
		splits:       make(map[splitName]*splitFile),
		open:         make(map[uint64]*openUnit),
		abbrevBudget: 64 << 10,
		steps:        1 << 20,
		texts:        32 << 20,
		records:      64 << 10,
		rows:         64<<10 + len(s.Line)*3/4,
		bytes:        16 << 20,
		names:        make(map[uint64]string),
		sources:      make([]*source, supplementaryNumber+1),
	}
	d.grow(s, len(s.Info)+len(s.Ranges)+len(s.RngLists))
	return d
}

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

// more adds code to the index and reports whether it may have found some: first the code
// that .debug_aranges lacks, then the code that units do not list themselves.
func (d *Data) more() bool {
	if !d.whole {
		d.indexRest()
		d.sortIndex()
		return true
	}
	return d.indexLoose()
}

// indexRest makes the index again, from all units.
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
			d.note(unitError(u, err))
		}
	}
}

// indexLoose adds the functions of the units that may not list all their code. It reports
// whether there were such units, at the first call only.
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
		// DWARF 2 has no range lists: for code in several places gcc writes no range, or
		// only the first one.
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

func unitError(u *unit, err error) error { return fmt.Errorf("unit at %#x: %w", u.start, err) }

// Damage returns the errors of the units that were skipped so far.
func (d *Data) Damage() error { return errors.Join(d.damage...) }

func (d *Data) note(err error) {
	if len(d.damage) < 32 {
		d.damage = append(d.damage, err)
	}
}

func (d *Data) cursor(section sectionName, data []byte) cursor {
	return newCursor(section, data, d.big)
}

// Locate returns the source of the instruction at addr: the innermost inlined call first,
// and last the function itself. The list is empty if no unit has the address. With an
// error comes the part that could be read.
func (d *Data) Locate(addr uint64) (list []Location, err error) {
	var problem error
	d.unitsAt(addr, func(o *openUnit) bool {
		if list = d.locateIn(o, addr); len(list) > 0 {
			problem = d.problem(o)
			return false
		}
		problem = errors.Join(problem, d.problem(o))
		return true
	})
	if len(list) > 0 {
		return list, problem
	}
	// It may be in a unit that could not be read at all.
	return nil, errors.Join(problem, d.Damage())
}

// unitsAt opens the units that can have code at addr, and calls visit with each until it
// returns false. Ranges of units may overlap: the range with the nearest start comes first.
func (d *Data) unitsAt(addr uint64, visit func(*openUnit) bool) {
	var visited []*openUnit
	for more := true; more; more = d.more() {
		i := sort.Search(len(d.index), func(i int) bool { return d.index[i].low > addr }) - 1
		for tries := 0; i >= 0 && d.highs[i] > addr && tries < 256; i, tries = i-1, tries+1 {
			if addr >= d.index[i].high {
				continue
			}
			u := d.unitStartingAt(d.index[i].unit)
			if u == nil {
				continue
			}
			o := d.openUnit(u)
			if slices.Contains(visited, o) {
				continue
			}
			if !visit(o) {
				return
			}
			visited = append(visited, o)
		}
	}
}

// problem returns the errors of a unit, and of the names that its functions refer to.
func (d *Data) problem(o *openUnit) error {
	if d.missing == nil && d.circle == nil && d.cut == nil {
		return o.err
	}
	return errors.Join(o.err, d.missing, d.circle, d.cut)
}

// openUnit returns a unit of the first source with its functions and its line table, which
// it reads at the first call.
func (d *Data) openUnit(u *unit) *openUnit {
	if o, ok := d.open[u.start]; ok {
		return o
	}
	o := &openUnit{unit: u, code: u}
	d.open[u.start] = o
	_, _ = d.abbreviationsOf(u) // readFunctions needs all; without them readRoot would search one
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
		o.err = unitError(u, o.err)
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

// fileName returns the path of a file in the unit's line table, "" if it has none or the
// budget of names is used up.
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

// charge returns s, or "" if that exceeds the budget of names. Only in a damaged file do
// names overlap so much.
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
	// Directory 0 is the directory of the compilation, which may be a relative path.
	if !path.IsAbs(dir) && (i != 0 || dir == "") {
		dir = path.Join(string(d.text(u, &o.root, o.root.dir)), dir)
	}
	return path.Join(dir, name)
}

// maxInlined bounds a chain of inlined calls; compilers make far shorter ones.
const maxInlined = 512
