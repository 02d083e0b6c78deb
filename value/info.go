// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// Info is the debugging information of one object. Its methods, and those of
// what it returns, may be called from several goroutines, but not after the
// object was closed. Addresses are those of the file, without load bias.
//
// Units are read when they are met: those that an address or an entry lies in;
// a name that the unit in use does not know makes all of them be read.
type Info struct {
	object  *object.File
	file    string // that the information is in: the object's, or its debug file's
	machine *arch.Machine

	mu         sync.Mutex // held while data is read, and for all that follows
	reader     *object.DebugReader
	addresses  []byte      // .debug_addr
	spent      int         // of the budget of the call in progress
	units      []*unit     // those that are known, by start
	linked     []*unit     // those of the file itself, where the others are found from; nil before they are asked for
	shared     []*unit     // those that dwz moved to another file
	sought     bool        // shared was looked for
	using      Language    // of the unit that was read last and says it
	longDouble longDouble  // what the object's attributes say; unknown before they are read
	last       *unit       // that an address was looked up in
	ranges     []unitRange // by low; nil before they are read
	types      map[object.DebugOffset]*Type
	bodies     map[object.DebugOffset]*body
	held       int                               // attributes in bodies
	room       treeRoom                          // for a body that is being read
	goTypes    map[uint64]object.DebugOffset     // by the address of the runtime's description
	packages   map[string][]*unit                // of Go, by import path; nil before they are read
	constants  map[object.DebugOffset][]constant // of types of Go that were asked for
	retained   int                               // types and names, and what they are made of
	nameless   error                             // why the first variable without a name, at namelessAt, has none
	namelessAt object.DebugOffset

	known    sync.RWMutex // held for what follows alone, also while mu is held
	listings map[listing]*program
	programs map[programKey]*program
	passed   map[passing]*knownPassing
}

// Open opens the debugging information of an object, or that of the debug file
// that object.File.OpenDebugFile found for it. The error wraps ErrNoInfo where
// there is none. With another error nothing can be read either.
func Open(f *object.File) (*Info, error) {
	if f.Machine() == nil {
		return nil, fmt.Errorf("%s: %w: unknown machine", f.Name(), ErrNoInfo)
	}
	reader, err := f.DebugReader()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	if reader == nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrNoInfo)
	}
	i := &Info{
		object: f, file: f.DebugInfoName(), machine: f.Machine(), reader: reader, addresses: reader.Addresses(),
		types: make(map[object.DebugOffset]*Type), bodies: make(map[object.DebugOffset]*body),
	}
	return i, nil
}

// Machine returns the machine that the object is for.
func (i *Info) Machine() *arch.Machine { return i.machine }

// locked runs fn, which reads debugging information, and turns what debug/dwarf
// panics with, and a fault in the mapped file, into an error. Code in it must
// not call an exported method of an Info or a Type.
func (i *Info) locked(fn func() error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.spent = 0
	if i.reader != nil {
		i.reader.Restart()
	}
	return object.Guard(func() (err error) {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case interface{ Addr() uintptr }: // a fault, for Guard
				panic(r)
			default:
				err = fmt.Errorf("%w: %v", ErrDebugInfo, r)
			}
		}()
		return fn()
	})
}

// spend takes n entries or attributes from what one call may read. Entries
// overlap only in damaged files; what is read twice by design is read from a
// cache.
func (i *Info) spend(n int) error {
	if i.spent += n; i.spent > 1<<22+4*i.size() {
		return fmt.Errorf("%w: more attributes than %#x bytes can hold", ErrDebugInfo, i.size())
	}
	return nil
}

// mostRetained bounds what is kept of the entries, counted in attributes.
func (i *Info) mostRetained() int { return 1<<20 + i.size()/4 }

// retain counts what is kept, and reports whether there is room for it.
func (i *Info) retain(n int) bool {
	i.retained += n
	return i.retained <= i.mostRetained()
}

// size returns the size in bytes of the sections of entries that are open.
func (i *Info) size() int {
	if i.reader == nil {
		return 0
	}
	return i.reader.Size()
}

// Scopes returns what is in scope at an address: of the innermost inlined call
// first, last of the function itself. The error wraps ErrNotFound where no
// function covers the address.
func (i *Info) Scopes(pc uint64) (scopes []*Scope, err error) {
	err = i.locked(func() error {
		b, err := i.bodyAt(pc)
		if err != nil {
			return err
		}
		scopes, err = i.scopesOf(b, pc)
		return err
	})
	return scopes, err
}

// Damage tells of what was read up to now why names are missing, or not whole: of the
// first string whose section is cut off, and of the first variable that is an instance
// of itself, or of nothing. It is nil where there were none.
func (i *Info) Damage() error {
	return i.locked(func() error {
		if i.reader == nil {
			return i.nameless
		}
		return errors.Join(i.reader.Cut(), i.nameless)
	})
}

// FunctionAt returns the function that covers an address, not what is inlined
// there. The error wraps ErrNotFound.
func (i *Info) FunctionAt(pc uint64) (fn *Function, err error) {
	err = i.locked(func() error {
		b, err := i.bodyAt(pc)
		if err == nil {
			fn, err = i.function(b.root)
		}
		return err
	})
	return fn, err
}

// Language returns the language of the unit that covers an address.
func (i *Info) Language(pc uint64) (l Language) {
	_ = i.locked(func() error { // what cannot be read is in no known language
		if u := i.unitAt(pc); u != nil {
			l = u.language
		}
		return nil
	})
	return l
}

// ListsEndAtCalls reports whether the location lists of the unit that covers an
// address leave out, where a call is to return, the registers that the call
// changes. Those of the GNU compilers do: they end a byte before the return address
// (gcc's final.c, NOTE_DURING_CALL). A register that one names there still has its
// value in the frames that were called. Other compilers' lists may name what is
// lost. So do gcc's of ppc64, which end a byte before the end of the call: that has a
// second instruction, which the call returns to and which restores r2.
func (i *Info) ListsEndAtCalls(pc uint64) (end bool) {
	_ = i.locked(func() error { // what cannot be read is not known to
		if u := i.unitAt(pc); u != nil {
			_, err := i.root(u)
			end = err == nil && u.gcc && i.machine.ELF != elf.EM_PPC64
		}
		return nil
	})
	return end
}

// unitRange is a range of addresses of one unit.
type unitRange struct {
	low, high uint64
	unit      *unit
}

// unitAt returns the unit that covers an address, nil where none does.
func (i *Info) unitAt(pc uint64) *unit {
	if i.reader != nil {
		if h, known := i.reader.CodeAt(pc, i.lowest()); known {
			if h == nil {
				return nil
			}
			if u := i.unitOf(h.First); u != nil {
				return i.withCode(u)
			}
			return nil
		}
	}
	if i.ranges == nil {
		i.readRanges()
	}
	// Ranges overlap in damaged files only; the ones before the first that
	// starts above pc are looked at, as far as a few.
	k := sort.Search(len(i.ranges), func(k int) bool { return i.ranges[k].low > pc })
	for n := k - 1; n >= 0 && n >= k-16; n-- {
		if pc < i.ranges[n].high {
			return i.withCode(i.ranges[n].unit)
		}
	}
	return nil
}

// withCode returns the unit with the entries of one that addresses lead to.
func (i *Info) withCode(u *unit) *unit {
	u = i.code(u)
	_, _ = i.root(u) // whose language is not known otherwise
	return u
}

func (i *Info) readRanges() {
	i.ranges = []unitRange{}
	for _, u := range i.linkedUnits() {
		c, err := i.reader.Coverage(u.header)
		if c.Tag != dwarf.TagCompileUnit && c.Tag != dw.TagSkeletonUnit {
			continue
		}
		list := i.withoutDropped(c.Ranges)
		if len(list) == 0 && u.version == 2 && c.Lines && i.index(u) == nil {
			// It has code in several places, which DWARF 2 cannot say.
			for _, c := range u.names.code {
				list = append(list, [2]uint64{c.low, c.high})
			}
		}
		if err != nil || i.spend(1+len(list)) != nil {
			continue
		}
		for _, r := range list {
			i.ranges = append(i.ranges, unitRange{r[0], r[1], u})
		}
	}
	slices.SortFunc(i.ranges, func(a, b unitRange) int { return compare(a.low, b.low) })
}

// entryRanges returns the addresses that an entry covers, without those of code
// that the linker dropped: it left 0 or 1 in their place, or the highest address.
func (i *Info) entryRanges(e *object.DebugEntry) (list [][2]uint64, err error) {
	err = i.eachRange(e, func(low, high uint64) { list = append(list, [2]uint64{low, high}) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// eachRange calls visit with the ranges that entryRanges returns. With an error they are
// none.
func (i *Info) eachRange(e *object.DebugEntry, visit func(low, high uint64)) error {
	if !e.Has(dwarf.AttrLowpc) && !e.Has(dwarf.AttrRanges) {
		return nil
	}
	n, lowest := 0, i.lowest()
	err := i.reader.Ranges(e, func(low, high uint64) {
		if n++; low < high && low >= lowest {
			visit(low, high)
		}
	})
	return firstError(err, i.spend(n))
}

func (i *Info) withoutDropped(list [][2]uint64) [][2]uint64 {
	lowest := i.lowest()
	return slices.DeleteFunc(list, func(r [2]uint64) bool { return r[0] >= r[1] || r[0] < lowest })
}

// lowest is the lowest address that code can have: linkers leave 0 or 1 in the place of
// what they dropped.
func (i *Info) lowest() uint64 {
	if i.object.Type() == relocatable {
		return 0
	}
	return 2
}

var errLoop = errors.New("references lead in a circle")
