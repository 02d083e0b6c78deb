// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
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
	Decimal                     // a base type of decimal floating-point numbers
	Fixed                       // a base type of integers that stand for multiples of a fixed number
	Complex                     // two Floats or Ints, the imaginary part second
	Pointer                     // Elem is what it leads to
	Reference                   // C++ T&
	RvalueReference             // C++ T&&
	MemberPointer               // C++ T C::*; Elem is T
	Array                       // Elem is the element; arrays of arrays have several dimensions
	Text                        // a string whose length its type says: character(len=5) of Fortran
	Set                         // of values of Elem, a bit for each: of Pascal and Modula-2
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
	info    *Info       // nil for types that were made
	unit    *entry.Unit // that the type stands in, nil as info
	offset  object.DebugOffset

	kind     Kind
	name     string
	language Language
	size     uint64
	sized    bool // size was said
	signed   bool
	partial  bool             // a declaration: what the type is made of stands elsewhere
	vector   bool             // an Array that is a vector register's
	lazy     bool             // an Array of Fortran that is allocated, or a Text whose length was not in its type
	format   arch.FloatFormat // of a Float, or of the parts of a Complex
	goKind   uint8            // reflect's number of it
	goPlace  int32            // of a type parameter of Go: 1 for the dictionary's first word
	indirect bool             // DW_CC_pass_by_reference, or a function of its own copies or destroys it
	problem  error            // why it is Unknown, where that is known

	once     sync.Once // guards the reading of what follows
	ready    bool      // nothing is to be read: the type was made
	elem     *Type
	count    uint64 // of an Array; of a Text the bytes of its length in memory
	counted  bool
	lower    int64
	stride   int64     // bits from an element to the next; 0 where they lie side by side
	index    *Type     // of an Array, nil where it is not said
	dynamic  []dynamic // nil of a type of which all is known
	fields   []Field
	align    uint64               // of a structure, where it was said
	template []object.DebugOffset // of a template's instance, the types that it is made with
	variants *variants            // of an enum of Rust, of a record of Ada
	scale    *big.Rat             // of a Fixed
	declared string               // name as the compiler spells it; "" where that is name
	params   []*Type
	varargs  bool
	enums    []Enumerator
	flags    bool // the enumerators are bits
	scoped   bool // a C++ enum class
	unsigned bool // an Enum with no negative value and no underlying type
	complete sync.Once
	whole    *Type // the definition of a declaration, nil where there is none
	class    *Type // that a MemberPointer's member is of, nil where it is not said
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

	Base       bool      // a base class
	Virtual    bool      // a virtual base class: the object says where it is, not Offset
	Artificial bool      // the compiler made it: a pointer to a virtual table
	Static     *Variable // a static member, else nil

	// Of a virtual base class: the expression of its place.
	location []byte
	info     *Info
	unit     *entry.Unit
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

// Language returns what the unit that the type stands in is written in.
func (t *Type) Language() Language { return t.language }

// Machine returns the machine that the type is for.
func (t *Type) Machine() *arch.Machine { return t.machine }

// Offset returns the offset of the type's entry in the debugging information, 0 of a type
// that was made.
func (t *Type) Offset() object.DebugOffset { return t.offset }

// GoKind returns the kind that the compiler of Go has given the type, reflect.Invalid of
// types of other languages.
func (t *Type) GoKind() reflect.Kind { return reflect.Kind(t.goKind) }

// maxChain bounds how many typedefs and qualifiers stand before a type, and how
// deep types are shown in full.
const maxChain = 64

// Strip returns the type without typedefs and qualifiers, and the definition of
// a structure of which t is a declaration.
func (t *Type) Strip() *Type { return t.named().definition() }

// named returns the type without typedefs and qualifiers. To find the definition of a
// structure takes a look into all units: a caller that follows a pointer does not need
// it.
func (t *Type) named() *Type {
	for range maxChain {
		switch t.kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			t = t.Elem()
		default:
			return t
		}
	}
	return &Type{machine: t.machine, ready: true, problem: fmt.Errorf("%w: type at %v: %w", ErrDebugInfo, t.offset, entry.ErrLoop)}
}

// damage returns why no value of the type can be read, nil where nothing is known to
// be wrong with it.
func (t *Type) damage() error {
	first := t.Strip()
	if first.problem != nil || first.kind != Array {
		return first.problem
	}
	t = first
	for range maxChain {
		if t = t.Elem().Strip(); t.kind != Array {
			return nil // an element reports its own error
		}
	}
	return fmt.Errorf("%w: type at %v: %w", ErrDebugInfo, first.offset, entry.ErrLoop)
}

// Elem returns what a pointer or reference leads to, an array has elements of, a
// function returns, a Typedef or qualifier stands before, or an Enum is
// represented by. It is never nil: Void stands for nothing.
func (t *Type) Elem() *Type {
	t.load()
	if t.elem == nil {
		return &Type{machine: t.machine, kind: Void, name: "void", ready: true}
	}
	return t.elem
}

// Size returns the size in bytes: 0 of an incomplete type, and of an array whose
// length is not known; 1 of Void and Func, as in GNU C. A size beyond 64 bits is
// the largest. That of an array with gaps between its elements is without them.
func (t *Type) Size() uint64 {
	count, unit, packed := t.extent()
	high, low := bits.Mul64(count, unit)
	switch {
	case high != 0:
		return math.MaxUint64
	case packed:
		return low/8 + (low%8+7)/8
	}
	return low
}

// extent returns the size of a type as so many units of so many bytes, or of so many bits
// of an array that is packed.
func (t *Type) extent() (count, unit uint64, packed bool) {
	count = 1
	for range maxChain {
		t = t.Strip()
		if t.sized || t.kind != Array {
			break
		}
		n, _ := t.Len()
		high, low := bits.Mul64(count, n)
		if count = low; high != 0 {
			return math.MaxUint64, 1, false
		}
		if t.stride%8 != 0 {
			return count, uint64(max(t.stride, -t.stride)), true
		}
		t = t.Elem()
	}
	size := t.size
	switch {
	case t.sized:
	case t.kind == Void || t.kind == Func:
		size = 1
	case t.kind == MemberPointer && t.Elem().named().kind == Func:
		size = 2 * uint64(t.machine.AddressSize) // Itanium C++ ABI §2.3
	case t.kind == Pointer || t.kind == Reference || t.kind == RvalueReference || t.kind == MemberPointer:
		size = uint64(t.machine.AddressSize)
	case t.kind == Enum:
		if e := t.Elem(); e.kind == Int {
			size = e.size
		}
	}
	return count, size, false
}

// Signed reports whether a Char, Int or Enum, also through typedefs and
// qualifiers, is signed.
func (t *Type) Signed() bool {
	t = t.Strip()
	if t.kind == Enum {
		if e := t.Elem().Strip(); e.kind == Int || e.kind == Char || e.kind == Bool {
			return e.signed
		}
		return !t.unsigned
	}
	return t.signed
}

// Len returns the number of elements of an array, and false where it is not
// known, or known in a frame only.
func (t *Type) Len() (uint64, bool) {
	t.load()
	return t.count, t.counted
}

// Lower returns the index of the first element of an array, or the lowest value that a Set
// can contain.
func (t *Type) Lower() int64 { t.load(); return t.lower }

// Index returns the type of an array's indices, nil where it is not known.
func (t *Type) Index() *Type { t.load(); return t.index }

// Vector reports whether an Array is the type of a vector register.
func (t *Type) Vector() bool { return t.vector }

// Packed reports whether elements of an array begin within a byte.
func (t *Type) Packed() bool {
	_, _, packed := t.extent()
	return packed
}

// Fields returns the members of a structure, class or union, base classes and
// static members with them, as they are declared. The slice must not be changed.
func (t *Type) Fields() []Field { t.load(); return t.fields }

// Params returns the types of the parameters of a Func.
func (t *Type) Params() []*Type { t.load(); return t.params }

// Variadic reports whether a Func takes more than Params.
func (t *Type) Variadic() bool { t.load(); return t.varargs }

// Enumerators returns the names of an Enum's values.
func (t *Type) Enumerators() []Enumerator { t.load(); return t.enums }

// Flags reports whether the enumerators of an Enum are bits, which are combined.
func (t *Type) Flags() bool { t.load(); return t.flags }

// Scoped reports whether an Enum is an enum class of C++.
func (t *Type) Scoped() bool { t.load(); return t.scoped }

// HasVariants reports whether the type is an enum of Rust, or a record of Ada that has
// variants.
func (t *Type) HasVariants() bool { t.load(); return t.variants != nil }

// Incomplete reports whether the debugging information has no more than a
// declaration of the type.
func (t *Type) Incomplete() bool { return t.Strip().partial }

// Equal reports whether two types are the same to C: made alike and named alike
// without typedefs and qualifiers, whichever unit describes them.
func (t *Type) Equal(u *Type) bool {
	for range maxChain {
		t, u = t.Strip(), u.Strip()
		if t == u {
			return true
		}
		if t.kind != u.kind || t.name != u.name || t.Size() != u.Size() {
			return false
		}
		switch t.kind {
		case Pointer, Reference, RvalueReference, Array:
			t, u = t.Elem(), u.Elem()
		case Func, MemberPointer:
			return t.String() == u.String()
		default:
			return t.name != "" || t.info == u.info && t.offset == u.offset
		}
	}
	return false
}

// PointerTo returns the type of pointers to t.
func PointerTo(t *Type) *Type {
	return &Type{machine: t.machine, language: t.language, kind: Pointer, elem: t, ready: true}
}

// ArrayOf returns the type of arrays of n elements of t.
func ArrayOf(t *Type, n uint64) *Type {
	return &Type{machine: t.machine, language: t.language, kind: Array, elem: t, count: n, counted: true, ready: true}
}

// FuncOf returns the type of functions that return a result and take parameters,
// of which nothing is said where a variadic one has none. It keeps the slice.
func FuncOf(result *Type, parameters []*Type, variadic bool) *Type {
	return &Type{machine: result.machine, language: result.language, kind: Func, elem: result, params: parameters, varargs: variadic, ready: true}
}

// IntOf returns an integer type of a size in bytes, which no program declares:
// a register's part is one. One of a byte is a number, not a character.
func IntOf(m *arch.Machine, name string, size int, signed bool) *Type {
	return &Type{machine: m, kind: Int, name: name, size: uint64(size), sized: true, signed: signed, ready: true}
}

// CharOf returns the type char of C++ on a machine, for where no debugging information says
// what it is.
func CharOf(m *arch.Machine) *Type {
	return &Type{machine: m, language: CPlusPlus, kind: Char, name: "char", size: 1, sized: true, signed: true, ready: true}
}

// VectorOf returns the type of a vector register that has n elements of t.
func VectorOf(t *Type, n uint64) *Type {
	v := ArrayOf(t, n)
	v.vector = true
	return v
}

// UnionOf returns a union of fields, all at offset 0. It keeps the slice.
func UnionOf(m *arch.Machine, name string, fields []Field) *Type {
	u := &Type{machine: m, language: C, kind: Union, name: name, sized: true, fields: fields, ready: true}
	for _, f := range fields {
		u.size = max(u.size, f.Type.Size())
	}
	return u
}

// ArrayIn returns the type of arrays of n elements of t in a language.
func ArrayIn(l Language, t *Type, n uint64) *Type {
	a := ArrayOf(t, n)
	a.language = l
	return a
}

// TextOf returns the type of strings of Fortran whose characters are of a type and that have
// a size in bytes.
func TextOf(elem *Type, size uint64) *Type {
	return &Type{machine: elem.machine, language: Fortran, kind: Text, elem: elem, size: size, sized: true, ready: true}
}
