// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
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

// Kind is the kind of a type.
type Kind uint8

const (
	Unknown         Kind = iota // not stated, or damaged
	Void                        // no type: the target of void *
	Bool                        // a base type of truth values
	Char                        // a base type of characters: signed char, char32_t
	Int                         // a base type of integers
	Float                       // a base type of binary floating-point numbers
	Decimal                     // a base type of decimal floating-point numbers
	Fixed                       // a base type of integers that are multiples of a fixed number
	Complex                     // two Floats or Ints, the imaginary part second
	Pointer                     // Elem is its target
	Reference                   // C++ T&
	RvalueReference             // C++ T&&
	MemberPointer               // C++ T C::*; Elem is T
	Array                       // Elem is the element; arrays of arrays have several dimensions
	Text                        // a string whose length is in its type: character(len=5) of Fortran
	Set                         // of values of Elem, a bit for each: of Pascal and Modula-2
	Struct                      // Fields
	Class                       // C++ class: Fields
	Union                       // Fields
	Enum                        // Enumerators
	Func                        // Elem is the result, Params are the parameters
	Typedef                     // Elem under another Name
	Const                       // Elem, not to be modified
	Volatile                    // Elem
	Restrict                    // Elem
	Atomic                      // Elem
)

// Type is a type of the program. Types do not change and may be used by several goroutines. The
// parts of a type are read when they are needed. Two types can be the same without being the same
// *Type: see [Type.Equal].
type Type struct {
	machine *arch.Machine
	info    *Info       // nil for types that were made
	unit    *entry.Unit // the unit of the type, nil if info is
	offset  object.DebugOffset

	kind     Kind
	name     string
	language Language
	size     uint64
	sized    bool // size is valid
	signed   bool
	partial  bool             // a declaration
	vector   bool             // an Array that is the type of a vector register
	lazy     bool             // an allocatable Array of Fortran, or a Text whose length was not in its type
	format   arch.FloatFormat // of a Float, or of the parts of a Complex
	goKind   uint8            // reflect's number
	goPlace  int32            // for a type parameter of Go: 1 for the dictionary's first word
	indirect bool             // DW_CC_pass_by_reference, or it has a copy constructor or destructor of its own
	direct   bool             // DW_CC_pass_by_value
	problem  error            // why it is Unknown or invalid, nil if not known

	once     sync.Once // guards the reading of the fields below
	ready    bool      // there is nothing to read: the type was made
	elem     *Type
	count    uint64 // of an Array; for a Text the size in bytes of its length in memory
	counted  bool
	lower    int64
	stride   int64     // bits from an element to the next; 0 if there are no gaps
	index    *Type     // of an Array, or nil
	dynamic  []dynamic // properties that depend on a frame or object
	fields   []Field
	align    uint64               // of a structure, 0 if not stated
	template []object.DebugOffset // template arguments
	variants *variants            // of an enum of Rust or a record of Ada
	scale    *big.Rat             // of a Fixed
	declared string               // name as the compiler spells it; "" if that is name
	params   []*Type
	varargs  bool
	enums    []Enumerator
	flags    bool // the enumerators are bits
	scoped   bool // a C++ enum class
	unsigned bool // an Enum with no negative value and no underlying type
	complete sync.Once
	whole    *Type // the definition of a declaration, or nil
	class    *Type // the class of a MemberPointer, or nil
}

// Field is a member of a structure, class or union, or a base class.
type Field struct {
	Name   string // "" for an anonymous member
	Type   *Type
	Offset uint64 // bytes from the start of the structure

	// For a bit field: its size in bits, 0 for other members, and the distance in bits of its
	// least significant bit (most significant on big-endian machines) from the start of the
	// structure.
	BitSize, BitOffset uint64

	Base       bool      // a base class
	Virtual    bool      // a virtual base class, whose offset is in the object
	Artificial bool      // made by the compiler: a pointer to a virtual table
	Access     Access    // of C++
	Static     *Variable // a static member, else nil

	// For a virtual base class: the expression of its address.
	location []byte
	info     *Info
	unit     *entry.Unit
}

// Enumerator is a named value of an enumeration.
type Enumerator struct {
	Name  string
	Value int64 // the bits of a uint64 if the type is unsigned
}

// Kind returns the kind of the type.
func (t *Type) Kind() Kind { return t.kind }

// Name returns the name of a base type, structure, class, union, enumeration or typedef, or "".
// It is qualified in C++, and does not contain "struct".
func (t *Type) Name() string { return t.name }

// Language returns the source language of the type's unit.
func (t *Type) Language() Language { return t.language }

// Machine returns the machine that the type is for.
func (t *Type) Machine() *arch.Machine { return t.machine }

// Offset returns the offset of the type's entry in the debugging information, or 0 for a type that
// was made.
func (t *Type) Offset() object.DebugOffset { return t.offset }

// GoKind returns the kind that Go's compiler states for the type, or reflect.Invalid for types of
// other languages.
func (t *Type) GoKind() reflect.Kind { return reflect.Kind(t.goKind) }

// maxChain bounds the typedefs and qualifiers before a type, and the nesting of types.
const maxChain = 64

// Strip returns the type without typedefs and qualifiers. If that is a declaration of a structure,
// it returns the definition.
func (t *Type) Strip() *Type { return t.named().definition() }

// named returns the type without typedefs and qualifiers. It does not search all units for the
// definition of a structure, which a caller that follows a pointer does not need.
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

// WithoutTypedefs returns the type without the typedefs before it. It keeps their qualifiers: with
// "typedef const int port", a port is a const int.
func (t *Type) WithoutTypedefs() *Type {
	base, q := t.unqualified(0)
	if base.kind != Typedef {
		return t
	}
	for n := 0; base.kind == Typedef && n < maxChain; n++ {
		base, q = base.Elem().unqualified(q)
	}
	for k := range qualifierWords {
		if q&(1<<k) != 0 {
			base = Qualified(base, Const+Kind(k))
		}
	}
	return base
}

// Qualified returns a type with a qualifier: Const, Volatile, Restrict or Atomic.
func Qualified(t *Type, qualifier Kind) *Type {
	return &Type{machine: t.machine, language: t.language, kind: qualifier, elem: t, ready: true}
}

// ReferenceTo returns the type of references to t in C++.
func ReferenceTo(t *Type) *Type {
	return &Type{machine: t.machine, language: t.language, kind: Reference, elem: t, ready: true}
}

// Scope returns the name of the class or the namespace that contains the type, or "".
func (t *Type) Scope() (name string) {
	if t.info == nil {
		return ""
	}
	i := t.info
	_ = i.locked(func() error { // without an entry it has no scope
		own, err := i.entries.Read(t.offset)
		if err != nil {
			return err
		}
		around, err := i.entries.Enclosing(own)
		if err != nil || around == nil {
			return err
		}
		switch around.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			name = i.typeAt(around.Offset).name
		case dwarf.TagNamespace:
			name = i.entries.NameOf(around)
		}
		return nil
	})
	return name
}

// damage returns why no value of the type can be read, or nil if no reason is known.
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

// Elem returns the target of a pointer or reference, the element of an array, the result of a
// function, the type after a Typedef or qualifier, or the underlying type of an Enum. It is never
// nil: it is Void if there is none.
func (t *Type) Elem() *Type {
	t.load()
	if t.elem == nil {
		return voidType(t.machine)
	}
	return t.elem
}

// Size returns the size in bytes: 0 for an incomplete type and for an array of unknown length, 1
// for Void and Func, as in GNU C, and math.MaxUint64 if it exceeds 64 bits. The gaps between
// elements of an array do not count.
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

// extent returns the size of a type as a number of units of bytes, or of bits for a packed array.
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

// Signed reports whether a Char, Int or Enum is signed, ignoring typedefs and qualifiers.
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

// Len returns the number of elements of an array, or false if it is not known or depends on a
// frame.
func (t *Type) Len() (uint64, bool) {
	t.load()
	return t.count, t.counted
}

// Lower returns the index of the first element of an array, or the lowest possible value in a
// Set.
func (t *Type) Lower() int64 { t.load(); return t.lower }

// Index returns the index type of an array, or nil if it is not known.
func (t *Type) Index() *Type { t.load(); return t.index }

// Vector reports whether an Array is the type of a vector register.
func (t *Type) Vector() bool { return t.vector }

// Packed reports whether elements of an array can begin within a byte.
func (t *Type) Packed() bool {
	_, _, packed := t.extent()
	return packed
}

// Fields returns the members of a structure, class or union in the order of declaration, with base
// classes and static members. The slice must not be changed.
func (t *Type) Fields() []Field { t.load(); return t.fields }

// Params returns the types of the parameters of a Func. The slice must not be changed.
func (t *Type) Params() []*Type { t.load(); return t.params }

// Variadic reports whether a Func takes more arguments than Params.
func (t *Type) Variadic() bool { t.load(); return t.varargs }

// Enumerators returns the named values of an Enum. The slice must not be changed.
func (t *Type) Enumerators() []Enumerator { t.load(); return t.enums }

// Flags reports whether the enumerators of an Enum are bits that can be combined.
func (t *Type) Flags() bool { t.load(); return t.flags }

// Scoped reports whether an Enum is an enum class of C++.
func (t *Type) Scoped() bool { t.load(); return t.scoped }

// HasVariants reports whether the type is an enum of Rust or a record of Ada with variants.
func (t *Type) HasVariants() bool { t.load(); return t.variants != nil }

// Dynamic reports whether the length of an array depends on a frame or on an object.
func (t *Type) Dynamic() bool { return t.dynamicType() != nil }

// Incomplete reports whether the debugging information has only a declaration of the type.
func (t *Type) Incomplete() bool { return t.Strip().partial }

// Equal reports whether two types are the same in C: of the same kind, size and name without
// typedefs and qualifiers, even if different units describe them.
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

// FuncOf returns the type of functions with a result and parameters. If it is variadic and has no
// parameters, the parameters are unknown. It keeps the slice.
func FuncOf(result *Type, parameters []*Type, variadic bool) *Type {
	return &Type{machine: result.machine, language: result.language, kind: Func, elem: result, params: parameters, varargs: variadic, ready: true}
}

// IntOf returns an integer type that no program declares, for example of a part of a register. size
// is in bytes. An integer of one byte is printed as a number, not as a character.
func IntOf(m *arch.Machine, name string, size int, signed bool) *Type {
	return &Type{machine: m, kind: Int, name: name, size: uint64(size), sized: true, signed: signed, ready: true}
}

// UnitOf returns the type () of Rust.
func UnitOf(m *arch.Machine) *Type {
	return &Type{machine: m, language: Rust, kind: Struct, name: "()", sized: true, ready: true}
}

// BoolOf returns the type bool of a language on a machine, for results of comparisons.
func BoolOf(m *arch.Machine, l Language) *Type {
	return &Type{machine: m, language: l, kind: Bool, name: "bool", size: 1, sized: true, ready: true}
}

// CharOf returns the type char of C++ on a machine, for use without debugging information.
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

// TextOf returns the type of strings of Fortran with a character type and a size in bytes.
func TextOf(elem *Type, size uint64) *Type {
	return &Type{machine: elem.machine, language: Fortran, kind: Text, elem: elem, size: size, sized: true, ready: true}
}
