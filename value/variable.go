// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/object"
)

// Variable is a variable, an argument, or a constant with a name. It is shared
// between goroutines and must not be changed.
type Variable struct {
	Name       string // qualified where it is a global of C++: "ns::count"
	Type       *Type
	Argument   bool
	Artificial bool // the compiler made it: this
	External   bool // visible outside of its unit
	Line       int  // of the declaration, 0 where it is not known

	info     *Info
	offset   object.DebugOffset // of its entry
	unit     *unit
	body     *body // of the function that it is local to; nil for globals
	location attribute
	constant attribute // DW_AT_const_value
	result   bool      // of a function of Go
	made     bool      // by the compiler of Go, for itself
	escape   *Type     // of the pointer that the location has, where Go put the variable on the heap
	external bool      // a declaration of what is defined elsewhere
	inlined  bool      // of a call that was inlined

	enter sync.Once  // of what follows
	entry *parameter // see passed

	called lastPassed // see entryBy

	count    sync.Once // of what follows: see isGoNumber
	isNumber bool

	look  sync.Once // of what follows: see asPlain
	plain plain

	located atomic.Pointer[[]located] // see program
}

// located is what a variable's location is at an address of the file.
type located struct {
	pc      uint64
	program *program // nil for nothing
}

// maxLocated is at how many addresses a variable's location is kept beside it: the frames
// of a function are at a few.
const maxLocated = 4

// program returns the program of the expression that the location is at the address of an
// evaluator's frame, nil where there is none.
func (v *Variable) program(e *evaluator) (*program, error) {
	if v.location.kind != attributeList {
		return v.programAt(e, 0)
	}
	pc, lookup := e.frame.ProgramCounter()
	if v.unit.goPlain && pc != lookup {
		// What came in registers was put in its place before anything was called, and is
		// said to be there from the first return on.
		if p, err := v.programAt(e, pc); p != nil || err != nil {
			return p, err
		}
	}
	return v.programAt(e, lookup)
}

// programAt is program at a run-time address, which counts for a location list.
func (v *Variable) programAt(e *evaluator, pc uint64) (*program, error) {
	if v.location.kind == attributeList {
		pc -= e.frame.Bias()
	}
	var known []located
	if list := v.located.Load(); list != nil {
		known = *list
	}
	for k := range known {
		if known[k].pc == pc {
			return known[k].program, nil
		}
	}
	p, err := e.expressionAt(&v.location, pc)
	if p != nil && v.isGoList() {
		p = v.goProgram(p)
	}
	if err == nil && len(known) < maxLocated && p.isSmall() {
		more := append(known[:len(known):len(known)], located{pc, p})
		v.located.Store(&more) // without what others found meanwhile, which they find again
	}
	return p, err
}

// Declared reports whether the variable is only declared here, and defined in another
// object: Read fails.
func (v *Variable) Declared() bool { return v.external }

// Function is a function, or an instance of it that was inlined into another. It
// is shared between goroutines and must not be changed.
type Function struct {
	Name        string // as in the source, qualified in C++: "ns::Class::f"
	LinkageName string // mangled, "" where it is Name
	Type        *Type  // of kind Func
	Entry       uint64 // address in the file of the first instruction; 0 and !HasCode without code
	HasCode     bool
	External    bool
	Line        int // of the declaration, 0 where it is not known
	Language    Language

	info *Info
}

// Scope is what one frame has by gdb's count: a function, or an inlined call.
type Scope struct {
	Function *Function
	Inlined  bool // Function was inlined into that of the next Scope

	// Arguments are in the order of the declaration.
	Arguments []*Variable
	// Blocks hold the local variables, innermost block first; the last is the
	// function's own. A name of an inner block hides that of an outer one.
	Blocks []Block
}

// Block is a lexical block.
type Block struct {
	Variables []*Variable // in the order of the declarations
}

// Lookup returns the local variable or argument that a name means in s, nil
// where it means none.
func (s *Scope) Lookup(name string) *Variable {
	for _, b := range s.Blocks {
		for _, v := range b.Variables {
			if v.Name == name {
				return v
			}
		}
	}
	for _, v := range s.Arguments {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Value returns the function as a value, in an object that is loaded with the
// bias of f.
func (fn *Function) Value(f Frame) Value {
	return At(fn.Type, fn.Entry+f.Bias(), f)
}
