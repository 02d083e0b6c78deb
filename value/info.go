// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Info is the debugging information of one object. Its methods, and those of the types that
// they return, may be called from several goroutines, but not after the object was closed.
// Addresses are those of the file, without load bias.
//
// A unit is read when an address or an entry in it is needed. A name that is not in the
// unit in use causes all units to be read.
type Info struct {
	object  *object.File
	file    string // the object's name, or that of its debug file
	machine *arch.Machine

	mu        sync.Mutex // guards the fields up to cacheMu, and reading
	entries   entry.Reader
	last      *entry.Unit // the unit of the last address
	types     map[object.DebugOffset]*Type
	bodies    map[object.DebugOffset]*body
	retained  int                                       // number of attributes in bodies
	trees     entry.TreeReader[decoded]                 // for bodies
	goTypes   map[uint64]object.DebugOffset             // by the address of the runtime's type descriptor
	packages  map[string][]*entry.Unit                  // of Go, by import path; nil before they are read
	constants map[object.DebugOffset][]entry.GoConstant // by Go type
	instances map[string]string                         // names with template arguments as they are declared, by their usual spelling; nil before they are read
	qualified qualified                                 // of the last name
	unnamed   error                                     // why the variable at unnamedAt, the first of its kind, has no name
	unnamedAt object.DebugOffset

	cacheMu    sync.RWMutex // guards the maps below; may be locked while mu is
	listings   map[listing]*program
	programs   map[programKey]*program
	parameters map[parameterKey]*knownParameter
}

// Open opens the debugging information of an object, or of the debug file that
// object.File.OpenDebugFile found for it. The error wraps ErrNoInfo if there is none.
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
		object: f, file: f.DebugInfoName(), machine: f.Machine(), entries: entry.NewReader(f, reader),
		types: make(map[object.DebugOffset]*Type), bodies: make(map[object.DebugOffset]*body),
	}
	return i, nil
}

// Machine returns the machine that the object is for.
func (i *Info) Machine() *arch.Machine { return i.machine }

// locked runs fn, which reads debugging information. It turns a panic of debug/dwarf, and a
// fault in the mapped file, into an error. fn must not call an exported method of an Info or
// a Type.
func (i *Info) locked(fn func() error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.entries.Restart()
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

// Scopes returns the scopes at an address: the scope of the innermost inlined call first, the scope
// of the function last. The error wraps ErrNotFound if no function covers the address.
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

// Damage returns the errors because of which names that were read so far are missing or incomplete:
// for the first string that its section cuts off, and for the first variable with a missing or
// circular abstract origin. It returns nil if there were none.
func (i *Info) Damage() error {
	return i.locked(func() error {
		return errors.Join(i.entries.Cut(), i.unnamed)
	})
}

// FunctionAt returns the function that covers an address, ignoring inlined calls. The error
// wraps ErrNotFound.
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

// Unit describes a compilation unit.
type Unit = entry.Description

// Unit returns the unit that covers an address, and false if there is none.
func (i *Info) Unit(pc uint64) (unit Unit, ok bool) {
	_ = i.locked(func() (err error) { unit, ok, err = i.entries.DescriptionAt(pc); return err }) // one that cannot be read is unknown
	return unit, ok
}

// Language returns the language of the unit that covers an address, or OtherLanguage.
func (i *Info) Language(pc uint64) Language {
	u, _ := i.Unit(pc)
	return u.Language
}

// CommonLanguage returns the language of all units whose language is known. It returns false if they
// are in several languages.
func (i *Info) CommonLanguage() (l Language, ok bool) {
	ok = true
	_ = i.locked(func() error { // a unit that cannot be read is in an unknown language
		if err := i.entries.IndexAll(); err != nil {
			return err
		}
		for _, u := range i.entries.Units {
			if _, err := i.entries.Root(u); err != nil || u.Language == OtherLanguage {
				continue
			}
			ok = ok && (l == OtherLanguage || l == u.Language)
			l = u.Language
		}
		return nil
	})
	return l, ok
}

// ListsEndAtCalls reports whether the location lists of the unit that covers an address leave
// out, at the return address of a call, the registers that the call changes. Those of the GNU
// compilers do: they end a byte before the return address (gcc's final.c,
// NOTE_DURING_CALL). A register that such a list names there still has its value in the
// called frames. Lists of other compilers, and those of gcc where a call has a second
// instruction after the return address (ppc64), may name registers whose value is lost.
func (i *Info) ListsEndAtCalls(pc uint64) (end bool) {
	_ = i.locked(func() error { // a unit that cannot be read does not count
		if u := i.entries.UnitAt(pc); u != nil {
			_, err := i.entries.Root(u)
			end = err == nil && u.GCC && !i.machine.C.RestoresAfterCall
		}
		return nil
	})
	return end
}

// Language is the source language of a unit, as far as it affects names, the lower bounds of
// arrays and how values are printed.
type Language = entry.Language

// Source languages.
const (
	OtherLanguage = entry.OtherLanguage // not known
	C             = entry.C
	CPlusPlus     = entry.CPlusPlus
	Go            = entry.Go
	Rust          = entry.Rust
	D             = entry.D
	Fortran       = entry.Fortran
	Ada           = entry.Ada
	Pascal        = entry.Pascal
	Modula2       = entry.Modula2
	ZeroBased     = entry.ZeroBased // any other language whose arrays begin at 0: Java, Swift, OCaml
	OneBased      = entry.OneBased  // any other language whose arrays begin at 1: COBOL, PL/I, Julia
)

// AdaName returns the source name of a name that GNAT encoded: "pkg__child__proc" is
// pkg.child.proc, "pkg__Oadd" is pkg."+", "_ada_main" is main, and "pkg__workerTB" is the
// body of the task pkg.worker. Names that GNAT made up are in "<" and ">", as in gdb.
func AdaName(encoded string) string { return spelling.Ada(encoded) }
