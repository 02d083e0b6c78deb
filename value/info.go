// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/arch"
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
	machine *arch.Machine

	mu         sync.Mutex // held while data is read, and for all that follows
	data       *dwarf.Data
	reader     *dwarf.Reader
	spent      int // of the budget of the call in progress
	info       []byte
	units      []*unit // by start
	sections   map[string][]byte
	ranges     []unitRange // by low; nil before they are read
	types      map[dwarf.Offset]*Type
	signatures map[uint64]dwarf.Offset
	bodies     map[dwarf.Offset]*body
	held       int // attributes in bodies
	retained   int // types and names, and what they are made of
	indexed    bool
}

// Open opens the debugging information of an object, or that of the debug file
// that object.File.OpenDebugFile found for it. The error wraps ErrNoInfo where
// there is none. With another error nothing can be read either.
func Open(f *object.File) (*Info, error) {
	if f.Machine() == nil {
		return nil, fmt.Errorf("%s: %w: unknown machine", f.Name(), ErrNoInfo)
	}
	data, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	if data == nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrNoInfo)
	}
	i := &Info{
		object: f, machine: f.Machine(), data: data, reader: data.Reader(),
		sections: make(map[string][]byte), types: make(map[dwarf.Offset]*Type), bodies: make(map[dwarf.Offset]*body),
	}
	if i.info, err = f.DebugSection("info"); err != nil {
		return nil, err
	}
	return i, i.locked(i.readUnits)
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
	if i.spent += n; i.spent > 1<<22+4*len(i.info) {
		return fmt.Errorf("%w: more attributes than %#x bytes can hold", ErrDebugInfo, len(i.info))
	}
	return nil
}

// mostRetained bounds what is kept of the entries, counted in attributes.
func (i *Info) mostRetained() int { return 1<<20 + len(i.info)/4 }

// retain counts what is kept, and reports whether there is room for it.
func (i *Info) retain(n int) bool {
	i.retained += n
	return i.retained <= i.mostRetained()
}

// section returns a section of debugging information, nil where there is none.
func (i *Info) section(name string) []byte {
	data, ok := i.sections[name]
	if !ok {
		data, _ = i.object.DebugSection(name) // what can be had of it
		i.sections[name] = data
	}
	return data
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

// Functions returns the functions of a name that have code, by ascending
// entry. The name is that of the source, "ns::f" or plain "f", or the linkage
// name. The error wraps ErrNotFound.
func (i *Info) Functions(name string) (list []*Function, err error) {
	err = i.locked(func() error {
		if err := i.indexAll(); err != nil {
			return err
		}
		seen := make(map[dwarf.Offset]bool)
		for _, u := range i.units {
			for _, off := range u.names.functions[name] {
				b, err := i.body(off)
				if err != nil || seen[off] {
					continue
				}
				seen[off] = true
				if fn, err := i.function(b.root); err == nil && fn.HasCode {
					list = append(list, fn)
				}
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b *Function) int { return compare(a.Entry, b.Entry) })
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("function %q: %w", name, ErrNotFound)
	}
	return list, err
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Global returns the variable of a name at file scope that code at pc sees:
// of the unit of pc first, where there is one, then of all others. In C++ the
// namespaces and classes around the function at pc are searched. The error
// wraps ErrNotFound.
func (i *Info) Global(name string, pc uint64) (v *Variable, err error) {
	err = i.locked(func() error {
		u := i.unitAt(pc)
		var declaration *Variable
		err := i.search(u, func(u *unit) bool {
			for _, name := range i.qualifications(name, pc, u) {
				for _, off := range u.names.variables[name] {
					found, err := i.variableAt(off, nil)
					if err != nil {
						continue
					}
					if !found.external {
						v = found
						return true
					}
					declaration = found
				}
			}
			return false
		})
		if v == nil && declaration != nil {
			v = declaration
		}
		if err == nil && v == nil {
			err = fmt.Errorf("variable %q: %w", name, ErrNotFound)
		}
		return err
	})
	return v, err
}

// qualifications returns what a name can stand for at pc: with the namespaces
// and classes of the function there, innermost first, and without.
func (i *Info) qualifications(name string, pc uint64, u *unit) (names []string) {
	if u.language == CPlusPlus {
		if b, err := i.bodyAt(pc); err == nil {
			if fn, err := i.function(b.root); err == nil {
				for k := len(fn.Name) - 2; k > 0; k-- {
					if fn.Name[k] == ':' && fn.Name[k+1] == ':' {
						names = append(names, fn.Name[:k]+"::"+name)
					}
				}
			}
		}
	}
	return append(names, name)
}

// search calls visit with the indices of first, where it is not nil, and of all
// other units, until visit returns true.
func (i *Info) search(first *unit, visit func(u *unit) bool) error {
	var problem error
	if first != nil {
		if problem = i.index(first); visit(first) {
			return nil
		}
	}
	for _, u := range i.units {
		if u == first {
			continue
		}
		if err := i.index(u); err != nil && problem == nil {
			problem = err
		}
		if visit(u) {
			return nil
		}
	}
	return problem
}

// Globals returns the variables at file scope of the unit of pc, declarations
// left out.
func (i *Info) Globals(pc uint64) (list []*Variable, err error) {
	err = i.locked(func() error {
		u := i.unitAt(pc)
		if u == nil {
			return fmt.Errorf("unit at %#x: %w", pc, ErrNotFound)
		}
		err := i.index(u)
		for _, off := range u.names.globals {
			if v, err := i.variableAt(off, nil); err == nil && !v.external {
				list = append(list, v)
			}
		}
		return err
	})
	return list, err
}

// Type returns the type of a name as C and C++ spell it: "int",
// "unsigned long", "struct node", "enum color", "node_t", "ns::Class"; those of
// the function and the unit at pc first. It knows no "*": see PointerTo. Base
// types of C that the program does not use are made up. The error wraps
// ErrNotFound.
func (i *Info) Type(name string, pc uint64) (t *Type, err error) {
	spelled := spell(name)
	err = i.locked(func() error {
		if b, err := i.bodyAt(pc); err == nil {
			if t = i.localType(b, spelled); t != nil {
				return nil
			}
		}
		var declaration *Type
		err := i.search(i.unitAt(pc), func(u *unit) bool {
			for _, qualified := range i.qualifications(spelled.name, pc, u) {
				for _, off := range u.names.types[qualified] {
					found := i.typeAt(off)
					switch {
					case !spelled.fits(found):
					case found.partial:
						declaration = found
					default:
						t = found
						return true
					}
				}
			}
			// Base types are many units' own: C's are made up below.
			return spelled.base != ""
		})
		switch {
		case t != nil:
			return nil
		case spelled.base != "":
			t = Base(i.machine, spelled.base)
		default:
			t = declaration
		}
		if err == nil && t == nil {
			err = fmt.Errorf("type %q: %w", name, ErrNotFound)
		}
		return err
	})
	return t, err
}

// Enumerator returns the enumerator of a name as a value of its enumeration;
// those of the function and the unit at pc first. The error wraps ErrNotFound.
func (i *Info) Enumerator(name string, pc uint64) (Value, error) {
	var t *Type
	err := i.locked(func() error {
		if b, err := i.bodyAt(pc); err == nil {
			if t = i.localEnum(b, name); t != nil {
				return nil
			}
		}
		err := i.search(i.unitAt(pc), func(u *unit) bool {
			for _, qualified := range i.qualifications(name, pc, u) {
				if off, ok := u.names.enumerators[qualified]; ok {
					t = i.typeAt(off)
					return true
				}
			}
			return false
		})
		if err == nil && t == nil {
			err = fmt.Errorf("enumerator %q: %w", name, ErrNotFound)
		}
		return err
	})
	if err != nil {
		return Value{}, err
	}
	last := lastName(name)
	for _, e := range t.Enumerators() {
		if e.Name == last {
			b := make([]byte, min(t.Size(), 16))
			putUint(i.machine.Order, b, uint64(e.Value))
			return Constant(t, b, nil), nil
		}
	}
	return Value{}, fmt.Errorf("enumerator %q: %w", name, ErrNotFound)
}

// Language is what a unit is written in.
type Language uint8

const (
	OtherLanguage Language = iota
	C
	CPlusPlus
	Go
	Rust
	D
)

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

// unitRange is a range of addresses of one unit.
type unitRange struct {
	low, high uint64
	unit      *unit
}

// unitAt returns the unit that covers an address, nil where none does.
func (i *Info) unitAt(pc uint64) *unit {
	if i.ranges == nil {
		i.readRanges()
	}
	// Ranges overlap in damaged files only; the ones before the first that
	// starts above pc are looked at, as far as a few.
	k := sort.Search(len(i.ranges), func(k int) bool { return i.ranges[k].low > pc })
	for n := k - 1; n >= 0 && n >= k-16; n-- {
		if pc < i.ranges[n].high {
			return i.ranges[n].unit
		}
	}
	return nil
}

func (i *Info) readRanges() {
	i.ranges = []unitRange{}
	for _, u := range i.units {
		root, err := i.root(u)
		if err != nil || root.Tag != dwarf.TagCompileUnit {
			continue
		}
		list, err := i.entryRanges(root)
		if err != nil {
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
func (i *Info) entryRanges(e *dwarf.Entry) ([][2]uint64, error) {
	if e.AttrField(dwarf.AttrLowpc) == nil && e.AttrField(dwarf.AttrRanges) == nil {
		return nil, nil
	}
	list, err := i.data.Ranges(e)
	if err == nil {
		err = i.spend(len(list))
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(r [2]uint64) bool {
		return r[0] >= r[1] || r[0] <= 1 && i.object.Type() != relocatable
	}), nil
}

var errLoop = errors.New("references lead in a circle")
