// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
)

// Info is the debugging information of one object. Its methods, and those of
// what it returns, may be called from several goroutines, but not after the
// object was closed. Addresses are those of the file, without load bias.
//
// Units are read when they are met: those that an address or an entry lies in;
// a name that a unit in use does not know makes all of them be read.
type Info struct {
	object  *object.File
	machine *arch.Machine

	mu        sync.Mutex // held while data is read
	data      *dwarf.Data
	reader    *dwarf.Reader
	sections  sections
	units     []*unit // by offset
	ranges    []unitRange
	ranged    bool
	types     map[uint64]*Type
	functions map[uint64]*body
	spent     int
}

// Open opens the debugging information of an object, or that of the debug file
// that object.File.OpenDebugFile found for it. The error wraps ErrNoInfo where
// there is none. With another error nothing can be read either.
func Open(f *object.File) (*Info, error) { return open(f) }

// Machine returns the machine that the object is for.
func (i *Info) Machine() *arch.Machine { return i.machine }

// Scopes returns what is in scope at an address: of the innermost inlined call
// first, last of the function itself. The error wraps ErrNotFound where no
// function covers the address.
func (i *Info) Scopes(pc uint64) ([]*Scope, error) { return i.scopes(pc) }

// FunctionAt returns the function that covers an address, not what is inlined
// there. The error wraps ErrNotFound.
func (i *Info) FunctionAt(pc uint64) (*Function, error) { return i.functionAt(pc) }

// Functions returns the functions of a name that have code, by ascending
// entry. The name is that of the source, "ns::f" or plain "f", or the linkage
// name. The error wraps ErrNotFound.
func (i *Info) Functions(name string) ([]*Function, error) { return i.functionsOf(name) }

// Global returns the variable of a name at file scope that code at pc sees:
// of the unit of pc first, where there is one, then of all others. In C++ the
// namespaces around the function at pc are searched. The error wraps
// ErrNotFound.
func (i *Info) Global(name string, pc uint64) (*Variable, error) { return i.global(name, pc) }

// Globals returns all variables at file scope of the unit of pc.
func (i *Info) Globals(pc uint64) ([]*Variable, error) { return i.globals(pc) }

// Type returns the type of a name as C and C++ spell it: "int",
// "unsigned long", "struct node", "enum color", "node_t", "ns::Class"; those of
// the unit of pc first. It knows no "*": see PointerTo. Base types of C that the
// program does not use are made up. The error wraps ErrNotFound.
func (i *Info) Type(name string, pc uint64) (*Type, error) { return i.typeOf(name, pc) }

// Enumerator returns the enumerator of a name as a value of its enumeration;
// those of the unit of pc first. The error wraps ErrNotFound.
func (i *Info) Enumerator(name string, pc uint64) (Value, error) { return i.enumerator(name, pc) }

// Language is what the unit of an address is written in.
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
func (i *Info) Language(pc uint64) Language { return i.languageAt(pc) }
