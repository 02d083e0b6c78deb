// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"sync"

	"github.com/clewdev/clew/arch"
)

// Kind is what a type is made of.
type Kind uint8

const (
	Unknown         Kind = iota // the debugging information does not say, or is damaged
	Void                        // no type: what void * leads to
	Bool                        // a base type of truth values
	Char                        // a base type of characters: signed char, char32_t
	Int                         // a base type of integers
	Float                       // a base type of binary floating-point numbers
	Complex                     // two Floats, the imaginary part second
	Pointer                     // Elem is what it leads to
	Reference                   // C++ T&
	RvalueReference             // C++ T&&
	MemberPointer               // C++ T C::*; Elem is T
	Array                       // Elem is the element; arrays of arrays have several dimensions
	Struct                      // Fields
	Class                       // C++ class: Fields
	Union                       // Fields
	Enum                        // Enumerators
	Func                        // Elem is what it returns, Params what it takes
	Typedef                     // Elem under another Name
	Const                       // Elem, which is not to be changed
	Volatile                    // Elem
	Restrict                    // Elem
	Atomic                      // Elem
)

// Type is a type of the program. Types are never changed and may be used from
// several goroutines; what a type is made of is read when it is asked for.
// Two types can be the same without being the same *Type: see [Type.Equal].
type Type struct {
	machine *arch.Machine
	info    *Info // nil for types that the caller made
	unit    *unit // that the type stands in, nil as info
	offset  uint64

	kind    Kind
	name    string
	size    uint64
	sized   bool // size was said
	signed  bool
	utf     bool // DW_ATE_UTF
	decimal bool // an encoding that is not understood
	partial bool // a declaration: what it is made of stands elsewhere
	vector  bool // DW_AT_GNU_vector
	varargs bool
	fixed   bool // of an Enum: has an underlying type

	once   sync.Once // loads what follows
	elem   *Type
	length arrayLength
	fields []Field
	params []*Type
	enums  []Enumerator
	flags  bool // the enumerators are bits
}

// Field is a member of a structure, class or union, or a base class.
type Field struct {
	Name   string // "" for an anonymous member
	Type   *Type
	Offset uint64 // bytes from the start of the structure

	// Of a bit field: its size, 0 for other members, and the distance of its
	// least significant bit (most significant on big-endian machines) from the
	// start of the structure, in bits.
	BitSize, BitOffset uint64

	Base       bool // a base class
	Virtual    bool // a virtual base class: where it lies the object tells, not Offset
	Artificial bool // the compiler made it: a pointer to a virtual table
	Static     *Variable
}

// Enumerator is a named value of an enumeration.
type Enumerator struct {
	Name  string
	Value int64 // the bits of a uint64 where the type is not signed
}

// Kind returns what the type is made of.
func (t *Type) Kind() Kind { return t.kind }

// Name returns the name of a base type, structure, class, union, enumeration or
// typedef, qualified in C++ and without "struct"; "" where it has none.
func (t *Type) Name() string { return t.name }

// Machine returns the machine that the type is for.
func (t *Type) Machine() *arch.Machine { return t.machine }

// Size returns the size in bytes: 0 of Void, of an incomplete type, and of an
// array whose length is not known; 1 of a Func, as in GNU C.
func (t *Type) Size() uint64 { return t.sizeAt(0) }

// Signed reports whether a Char, Int or Enum, also behind typedefs and
// qualifiers, is signed.
func (t *Type) Signed() bool { return t.Strip().isSigned() }

// Elem returns what a pointer or reference leads to, an array has elements of, a
// function returns, a Typedef or qualifier stands before, or an Enum is
// represented by. It is never nil: Void stands for nothing.
func (t *Type) Elem() *Type { return t.element() }

// Strip returns the type without typedefs and qualifiers, and the definition of
// a structure of which t is a declaration.
func (t *Type) Strip() *Type { return t.strip() }

// Len returns the number of elements of an array, and false where it is not
// known, or known in a frame only.
func (t *Type) Len() (uint64, bool) { return t.arrayLen() }

// Fields returns the members of a structure, class or union, base classes first,
// as they are declared. The slice must not be changed.
func (t *Type) Fields() []Field { t.load(); return t.fields }

// Params returns the types of the parameters of a Func.
func (t *Type) Params() []*Type { t.load(); return t.params }

// Variadic reports whether a Func takes more than Params.
func (t *Type) Variadic() bool { t.load(); return t.varargs }

// Enumerators returns the names of an Enum's values.
func (t *Type) Enumerators() []Enumerator { t.load(); return t.enums }

// Incomplete reports whether the debugging information has no more than a
// declaration of the type.
func (t *Type) Incomplete() bool { return t.Strip().partial }

// Equal reports whether two types are the same to C: equal names and sizes,
// behind typedefs, whichever unit describes them.
func (t *Type) Equal(u *Type) bool { return t.equal(u, 0) }

// String returns the type as gdb's whatis prints it: "char *",
// "int (*)(int, void *)", "struct node [10]".
func (t *Type) String() string { return t.text() }

// PointerTo returns the type of pointers to t.
func PointerTo(t *Type) *Type { return pointerTo(t) }

// ArrayOf returns the type of arrays of n elements of t.
func ArrayOf(t *Type, n uint64) *Type { return arrayOf(t, n) }

// Base returns a base type of C for a machine: "int", "unsigned long", "char",
// "double", "void", "__int128". It returns nil for a name that C does not have.
// Sizes are those of Linux.
func Base(m *arch.Machine, name string) *Type { return base(m, name) }
