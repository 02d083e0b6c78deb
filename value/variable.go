// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

// Variable is a variable, an argument, or a constant with a name.
type Variable struct {
	Name       string // qualified where it is a global of C++: "ns::count"
	Type       *Type
	Argument   bool
	Artificial bool   // the compiler made it: this
	External   bool   // visible outside of its unit
	File       string // where it is declared, "" where that is not known
	Line       int    // 0 where it is not known

	info   *Info
	unit   *unit
	entry  *entry
	access access
}

// Function is a function, or an instance of it that was inlined into another.
type Function struct {
	Name        string // as in the source, qualified in C++: "ns::Class::f"
	LinkageName string // mangled, "" where it is Name
	Type        *Type  // of kind Func
	Entry       uint64 // address in the file of the first instruction; 0 and !HasCode without code
	HasCode     bool
	External    bool
	File        string // where it is declared
	Line        int

	info  *Info
	unit  *unit
	entry *entry
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

// Read returns the variable's value in a frame, which is that of the scope the
// variable comes from; for a global it is any Frame of its object, also that of
// [Static]. Where there is no value [Value.Err] says why.
func (v *Variable) Read(f Frame) Value { return v.read(f) }

// ReadEntry returns the value that an argument had when the function was
// called, as far as the caller tells (DWARF 5 §3.4.2); what gdb calls x@entry.
// The Err of the Value wraps ErrNotFound where nothing is known, which is the
// rule in code that is not optimized.
func (v *Variable) ReadEntry(f Frame) Value { return v.readEntry(f) }

// Value returns the function as a value, in an object that is loaded with the
// bias of f.
func (fn *Function) Value(f Frame) Value {
	return At(fn.Type, fn.Entry+f.Bias(), f)
}
