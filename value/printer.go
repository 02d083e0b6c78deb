// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

// Symbolizer names run-time addresses.
type Symbolizer interface {
	// Symbol returns the symbol that covers an address, how far into it the
	// address is in bytes, and false where there is none. Names are printed as
	// they are: demangled, where that is wanted.
	Symbol(address uint64) (name string, offset uint64, ok bool)
}

// Printer writes values as gdb 13 prints them with its default settings and the
// C locale. The zero value is good. It may be used from several goroutines as
// far as the Symbolizer and the values' Frames may.
type Printer struct {
	Symbols Symbolizer // nil for none

	Elements int // most elements of an array and characters of a string; 0 for 200
	Repeats  int // so many equal elements are printed each; 0 for 10
	Depth    int // most nesting of structures; 0 for 20

	// Format is the letter of gdb's print/x: one of x d u o t z c a f s, 0 for
	// the type's own.
	Format byte
}

// Print returns what the command print shows after "$1 = ": pointers with their
// type. What cannot be read is "<optimized out>", or "<error: ...>" inside of
// a structure; where the value as a whole has an error other than
// ErrOptimizedOut, which print would show instead, the error is returned.
func (p *Printer) Print(v Value) (string, error) { return p.print(v) }

// Text returns what info locals and info args show after "name = ": it never
// fails, and says "<error: ...>" for what cannot be read.
func (p *Printer) Text(v Value) string { return p.text(v) }

// Argument returns what backtraces show of an argument: "n=5", "n=n@entry=5",
// "s=..." for a structure, union or array, "n=<optimized out>".
func (p *Printer) Argument(v *Variable, f Frame) string { return p.argument(v, f) }
