// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Function is a function of an Index at one place and time. A function that moves has
// one for each place.
type Function struct {
	Address uint64
	Size    uint32 // bytes
	Order   uint32 // index in Index.Functions
	Time    uint64 // when it was loaded or moved there
	Index   uint64 // its number in the dump

	until uint64 // when it was moved away, or never
	// Offsets of its records; 0 if there is none.
	load, debugInfo, unwindingInfo uint64
}

// Index contains the functions of a jitdump by address and time. It is safe for
// concurrent use, and does not change when the file grows.
type Index struct {
	dump      *Jitdump
	functions []Function // by Time, then in the order of the file
	timeline  timeline
	lineShift uint64 // what the writer added to addresses of lines
	damage    []error
	damaged   int
	skipped   int // omitted functions
}

// maxFunctions is the maximum number of functions of an index. A function takes up to 200
// bytes of memory, and as few as 60 in the dump. The index keeps the last ones, which hide
// earlier ones.
const maxFunctions = 1 << 20

const never = math.MaxUint64

// maxDamage is the maximum number of errors that are kept.
const maxDamage = 8

// Index builds the index of the complete records. It skips malformed records; without its
// CodeLoad, a function is missing. [Index.Damage] returns the errors.
//
// As in perf, CodeDebugInfo and CodeUnwindingInfo belong to the next CodeLoad, and a
// function hides earlier ones at its addresses. A function ends when it is hidden or
// moved, but not when the dump is closed.
//
// The index of more than a million functions omits the first ones: see Index.Cut.
func (d *Jitdump) Index() *Index { return d.indexOf(maxFunctions) }

func (d *Jitdump) indexOf(limit int) *Index {
	x := &Index{dump: d}
	count, moves := 0, false
	for r := range d.Records() {
		switch r.ID {
		case CodeLoad:
			count++
		case CodeMove:
			count, moves = count+1, true
		}
	}
	x.skipped = max(0, count-limit)
	x.functions = make([]Function, 0, count-x.skipped)
	var byIndex map[uint64]int // the current place of a function
	if moves {
		byIndex = make(map[uint64]int)
	}
	shift := newLineShift(d.machine())
	var f Function // the next function, as far as known
	skip := x.skipped
	for r := range d.Records() {
		if skip > 0 {
			if r.ID == CodeLoad || r.ID == CodeMove {
				skip--
			}
			continue
		}
		switch r.ID {
		case CodeDebugInfo:
			f.debugInfo = r.Offset
		case CodeUnwindingInfo:
			f.unwindingInfo = r.Offset
		case CodeLoad:
			if x.load(&r, &f, &shift) && moves {
				byIndex[f.Index] = len(x.functions) - 1
			}
			f = Function{}
		case CodeMove:
			x.move(&r, byIndex)
		}
	}
	x.lineShift = shift.shift()
	byTime := func(a, b Function) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(x.functions, byTime) {
		slices.SortStableFunc(x.functions, byTime)
	}
	for i := range x.functions {
		x.functions[i].Order = uint32(i)
	}
	x.timeline = newTimeline(x.functions)
	return x
}

func (x *Index) fail(err error) {
	if x.damaged++; len(x.damage) < maxDamage {
		x.damage = append(x.damage, err)
	}
}

// load adds the function of a CodeLoad.
func (x *Index) load(r *Record, f *Function, shift *lineShift) bool {
	l, err := r.Load()
	if err != nil {
		x.fail(err)
		return false
	}
	if len(l.Code) == 0 {
		return false
	}
	f.Address, f.Size, f.Time, f.Index = l.Address, uint32(len(l.Code)), r.Time, l.Index
	f.load, f.until = r.Offset, never
	if f.debugInfo != 0 {
		debug := x.dump.record(f.debugInfo)
		info, err := debug.DebugInfo()
		if err != nil {
			x.fail(err)
		}
		if info.garbled() {
			f.debugInfo = 0
		} else {
			shift.look(f, info)
		}
	}
	x.functions = append(x.functions, *f)
	return true
}

// move adds the function of a CodeMove at its new place.
func (x *Index) move(r *Record, byIndex map[uint64]int) {
	m, err := r.Move()
	if err != nil {
		x.fail(err)
		return
	}
	fail := func(format string, args ...any) {
		x.fail(&Error{x.dump.name, r.Offset, fmt.Errorf("%w: %s", ErrRecord, fmt.Sprintf(format, args...))})
	}
	i, ok := byIndex[m.Index]
	if !ok && x.skipped > 0 {
		return // it is one of the omitted functions
	}
	if !ok {
		fail("a move of function %d, which was not loaded", m.Index)
		return
	}
	f := x.functions[i]
	switch {
	case f.Address != m.From:
		fail("a move of function %d from %#x, expected from %#x, its place", m.Index, m.From, f.Address)
		return
	case m.To+uint64(f.Size) < m.To:
		fail("a move of %#x bytes to %#x, past the end of the address space", f.Size, m.To)
		return
	}
	x.functions[i].until = r.Time
	f.Address, f.Time = m.To, r.Time
	byIndex[m.Index] = len(x.functions)
	x.functions = append(x.functions, f)
}

// Damage returns the errors of the first invalid records, joined, each an *Error, or
// nil. all is the number of invalid records.
func (x *Index) Damage() (all int, err error) { return x.damaged, errors.Join(x.damage...) }

// Cut returns the reason for omitting functions, an error that wraps ErrTooLarge, or nil.
func (x *Index) Cut() error {
	if x.skipped == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: the first %d of its functions are omitted: only the last %d are read",
		x.dump.name, ErrTooLarge, x.skipped, cap(x.functions))
}

// Functions returns the functions in ascending order of their times. The caller must
// not change the slice.
func (x *Index) Functions() []Function { return x.functions }

// Find returns the function at an address and a time of the dump's clock; the time
// math.MaxUint64 means the end of the dump. It does not allocate.
func (x *Index) Find(address, time uint64) (f *Function, ok bool) {
	i := x.timeline.find(x.functions, address, time)
	if i < 0 || x.functions[i].until <= time && x.functions[i].until != never {
		return nil, false
	}
	return &x.functions[i], true
}

// Next returns the function that ended f: the first function that replaced the first byte of
// f, or, with moved, the same function at its new place. It returns nil if f was not
// replaced. It examines all later functions.
func (x *Index) Next(f *Function) (next *Function, moved bool) {
	for i := int(f.Order) + 1; i < len(x.functions); i++ {
		n := &x.functions[i]
		switch {
		case n.load == f.load && n.Time == f.until:
			return n, true
		case f.Address-n.Address < uint64(n.Size):
			return n, false
		}
	}
	return nil, false
}

// Name returns the name of a function of the index. It aliases the dump.
func (x *Index) Name(f *Function) string {
	r := x.dump.record(f.load)
	l, _ := r.Load()
	return l.Name
}

// Code returns the code of a function of the index. It aliases the dump.
func (x *Index) Code(f *Function) []byte {
	r := x.dump.record(f.load)
	l, _ := r.Load()
	return l.Code
}

// Line maps the code from an offset on to a line of a source file.
type Line struct {
	Offset uint64 // from the start of the function, bytes
	File   string
	Line   int // from 1; 0 without source
	// Discriminator is the column or DWARF's discriminator, depending on the writer.
	Discriminator int
}

// Lines yields the source lines of a function of the index, in the order of the dump. It
// omits lines outside of the function, and all lines of a function for which V8 wrote
// freed memory as file names. It does not allocate.
func (x *Index) Lines(f *Function) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		if f.debugInfo == 0 {
			return
		}
		// A moved function keeps the lines of its first place.
		load := x.dump.record(f.load)
		l, _ := load.Load()
		r := x.dump.record(f.debugInfo)
		info, _ := r.DebugInfo()
		for e := range info.Entries() {
			if !isText(e.File) {
				return
			}
			offset := e.Address - l.Address - x.lineShift
			if offset < uint64(f.Size) && !yield(Line{offset, e.File, int(e.Line), int(e.Discriminator)}) {
				return
			}
		}
	}
}

// isText reports whether a name can be a file name. Freed memory rarely looks like one.
func isText(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// EHFrame returns the unwind table of a function of the index, as a section at an address
// at which its pointers refer to the function's place. It returns nil if there is none.
// An error is an *Error.
func (x *Index) EHFrame(f *Function) (*cfi.Section, error) {
	if f.unwindingInfo == 0 {
		return nil, nil
	}
	r := x.dump.record(f.unwindingInfo)
	u, err := r.UnwindingInfo()
	if err != nil || len(u.EHFrame) == 0 {
		return nil, err
	}
	address := f.Address + align8(uint64(f.Size))
	if u.HeaderFirst {
		address += uint64(len(u.Header))
	}
	return &cfi.Section{Name: fmt.Sprintf("%s+%#x: .eh_frame", x.dump.name, r.Offset), Data: u.EHFrame,
		Address: address, Machine: x.dump.machine()}, nil
}

// lineShift finds out whether a writer adds the size of an ELF header to the
// addresses of lines, as V8 and LLVM do because perf once had the code there. One
// function proves nothing, because its prologue may be long. A dump is shifted if no
// line is near the start of any function, and some lines are after a function's end or
// exactly where the shifted first line would be.
type lineShift struct {
	size  uint64 // of an ELF header
	below bool   // a line is closer to its function's start
	seen  bool
}

func newLineShift(m *arch.Machine) lineShift {
	if m.Class == elf.ELFCLASS32 {
		return lineShift{size: 0x34}
	}
	return lineShift{size: 0x40}
}

func (s *lineShift) look(f *Function, info DebugInfo) {
	for e := range info.Entries() {
		offset := e.Address - f.Address
		switch {
		case offset < s.size:
			s.below = true
			return
		case offset == s.size, offset >= uint64(f.Size) && offset-uint64(f.Size) < s.size:
			s.seen = true
		}
	}
}

// shift returns the number to subtract from the addresses of lines.
func (s *lineShift) shift() uint64 {
	if s.seen && !s.below {
		return s.size
	}
	return 0
}
