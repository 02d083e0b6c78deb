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
	entries    entry.Reader
	last       *entry.Unit // that an address was looked up in
	types      map[object.DebugOffset]*Type
	bodies     map[object.DebugOffset]*body
	held       int                                       // attributes in bodies
	trees      entry.TreeReader[made]                    // of bodies
	goTypes    map[uint64]object.DebugOffset             // by the address of the runtime's description
	packages   map[string][]*entry.Unit                  // of Go, by import path; nil before they are read
	constants  map[object.DebugOffset][]entry.GoConstant // of types of Go that were asked for
	nameless   error                                     // why the first variable without a name, at namelessAt, has none
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
		object: f, file: f.DebugInfoName(), machine: f.Machine(), entries: entry.NewReader(f, reader),
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

// Damage returns why names that were read up to now are missing or not whole: the errors of
// the first string whose section is cut off, and of the first variable that is an instance
// of itself, or of nothing. It is nil where there were none.
func (i *Info) Damage() error {
	return i.locked(func() error {
		return errors.Join(i.entries.Cut(), i.nameless)
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
		if u := i.entries.UnitAt(pc); u != nil {
			l = u.Language
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
// lost. So do gcc's where a call has a second instruction after the return address
// (ppc64), because they end a byte before its end.
func (i *Info) ListsEndAtCalls(pc uint64) (end bool) {
	_ = i.locked(func() error { // what cannot be read is not known to
		if u := i.entries.UnitAt(pc); u != nil {
			_, err := i.entries.Root(u)
			end = err == nil && u.GCC && !i.machine.C.RestoresAfterCall
		}
		return nil
	})
	return end
}

// Language is the source language of a unit, as far as it determines names, the lower bounds
// of arrays and how values are printed.
type Language = entry.Language

// The languages.
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

// AdaName returns the name in the source that GNAT encoded: "pkg__child__proc" is
// pkg.child.proc, "pkg__Oadd" is pkg."+", "_ada_main" is main, and "pkg__workerTB" is the
// body of the task pkg.worker. It returns a name that GNAT made for itself between "<" and
// ">", as in gdb.
func AdaName(encoded string) string { return spelling.Ada(encoded) }
