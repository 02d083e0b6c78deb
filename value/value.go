// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

// MaxSize is how many bytes a value may have to be read, as gdb's
// max-value-size: larger ones have fields and elements all the same.
const MaxSize = 65536

// Value is a type and the place where bytes of it live. It is made by
// [Variable.Read], [At] and [Constant], and not changed after. Its bytes are read
// when they are asked for, from the Frame it was made with, and may differ
// from call to call where that runs on. The zero Value has no type and the Err
// ErrNotFound.
type Value struct {
	typ   *Type
	frame Frame // for memory and registers; may be nil for constants
	err   error

	// The bits of the value are those from bitOffset on of the pieces together.
	pieces             []Piece
	bitOffset, bitSize uint64
}

// PieceKind is where the bytes of a piece live.
type PieceKind uint8

const (
	OptimizedOut    PieceKind = iota // nowhere
	InMemory                         // at Address
	InRegister                       // in register Column
	InBytes                          // in Bytes: a constant, or a result that is stored nowhere
	ImplicitPointer                  // a pointer to what the compiler kept no memory for
)

// Piece is where a part of a value lives (DWARF 5 §2.6.1.2).
type Piece struct {
	Kind    PieceKind
	Address uint64 // run-time
	Column  uint64 // DWARF column
	Bytes   []byte // in the machine's byte order; not to be changed

	BitOffset uint64 // of the part, from the place's first byte on, bits
	BitSize   uint64 // of the part; 0 for a piece that is the whole value

	entry  uint64 // of an ImplicitPointer: offset in .debug_info of what it leads to
	offset int64  // and bytes into it
}

// At returns the value of a type in memory, at a run-time address. A value of a
// Func is the function itself.
func At(t *Type, address uint64, f Frame) Value { return at(t, address, f) }

// Constant returns a value that has bytes and no place, in the machine's byte
// order. It keeps p. Pointers lead into the memory of f, which may be nil.
func Constant(t *Type, p []byte, f Frame) Value { return constant(t, p, f) }

// Type returns the type of the value, nil of the zero Value.
func (v Value) Type() *Type { return v.typ }

// Frame returns the frame that the value was made with; it may be nil.
func (v Value) Frame() Frame { return v.frame }

// Pieces returns where the value lives; one piece for all but values that the
// compiler split. The slice is the caller's.
func (v Value) Pieces() []Piece { return v.place() }

// Address returns the run-time address of a value that lies in memory as a
// whole, and false for others and for bit fields.
func (v Value) Address() (uint64, bool) { return v.address() }

// Err says why the value cannot be read: it wraps ErrOptimizedOut, ErrTooLarge
// or *MemoryError, or says what was wrong with the location. It is nil for a
// value that is optimized out in part: Bytes fails then.
func (v Value) Err() error { return v.check() }

// Bytes reads the value: Size bytes of its type in the machine's byte order,
// with a bit field widened. The slice is the caller's. The error is that of
// Err, or wraps ErrOptimizedOut where a part is missing.
func (v Value) Bytes() ([]byte, error) { return v.bytes() }

// Uint returns a Bool, Char, Int, Enum, Pointer, or reference as 64 bits,
// sign-extended where its type is signed, and a Float cut to an integer. The
// error wraps ErrType for other types.
func (v Value) Uint() (uint64, error) { return v.uint() }

// Float returns a number as a float64. The error wraps ErrType for other types.
func (v Value) Float() (float64, error) { return v.float() }

// Field returns field i of [Type.Fields] of a structure, class or union.
func (v Value) Field(i int) Value { return v.field(i) }

// FieldByName returns the field of a name, also one of an anonymous member or a
// base class. Its Err wraps ErrNotFound where there is none.
func (v Value) FieldByName(name string) Value { return v.fieldByName(name) }

// Index returns element i of an array, or of the array that a pointer leads to.
// It is not held to the array's bounds where the array lies in memory, as in C.
func (v Value) Index(i int64) Value { return v.index(i) }

// Deref returns what a pointer or a reference leads to.
func (v Value) Deref() Value { return v.deref() }

// Pointer returns a pointer to the value, whose Err wraps ErrNoAddress where the
// value does not lie in memory.
func (v Value) Pointer() Value { return v.pointer() }

// Decay returns an array as a pointer to its first element, a function as a
// pointer to it, what a reference leads to, and every other value as it is.
func (v Value) Decay() Value { return v.decay() }

// Cast converts the value as a C cast does: between numbers, enumerations and
// pointers; to the same structure; to a pointer to a base class or back
// without moving it. Its Err wraps ErrType where C has no such cast.
func (v Value) Cast(t *Type) Value { return v.cast(t) }

// Assign writes p, which has Size bytes of the type in the machine's byte order,
// where the value lives; of a bit field it writes the bits alone. The error
// wraps ErrOptimizedOut or ErrNoAddress where the value, or a part of it, lives
// in no place that can be written: nothing is written then.
func (v Value) Assign(w Writer, p []byte) error { return v.assign(w, p) }
