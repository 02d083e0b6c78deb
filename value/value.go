// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"math/bits"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// MaxSize is the size in bytes of the largest value that can be read, as gdb's max-value-size. The
// fields and elements of larger values can be read.
const MaxSize = 65536

// Value is a type and the place of its bytes. [Variable.Read], [At] and [Constant] return one. It
// does not change. Its bytes are read when they are needed, from the Frame with which it was made.
// They may differ from call to call if the program runs. The zero Value has no type, and Err
// returns an error.
type Value struct {
	typ   *Type
	frame Frame // for memory and registers; may be nil for constants
	err   error

	// The value starts at bitOffset of the bits of all pieces together.
	pieces    []Piece
	bitOffset uint64
	bitSize   uint64 // of a bit field, else 0
}

// PieceKind is the kind of place of a piece.
type PieceKind uint8

const (
	OptimizedOut    PieceKind = iota // not stored
	InMemory                         // at Address
	InRegister                       // in register Column
	InBytes                          // in Bytes: a constant, or a result that is not stored
	ImplicitPointer                  // a pointer to a variable that is not stored in memory
)

// Piece is the place of a part of a value (DWARF 5 §2.6.1.2).
type Piece struct {
	Kind    PieceKind
	Address uint64 // run-time
	Column  uint64 // DWARF column
	Bytes   []byte // in the machine's byte order; not to be changed

	BitSize   uint64 // of the part
	BitOffset uint64 // of the part in its place: from the first byte of memory, from a register's least significant bit

	number bool               // Bytes are a number, which can have more bits than the value
	entry  object.DebugOffset // the target of an ImplicitPointer
	offset int64              // of the ImplicitPointer in the target, in bytes
	info   *Info
	body   *body
}

// At returns the value of a type at a run-time address. A value of a Func is the function
// itself.
func At(t *Type, address uint64, f Frame) Value {
	return Value{typ: t, frame: f, pieces: []Piece{{Kind: InMemory, Address: address, BitSize: bitsOf(t.Size())}}}
}

// Constant returns a value that consists of bytes in the machine's byte order and has no place. It
// keeps p. f, which may be nil, has the memory to which pointers point.
func Constant(t *Type, p []byte, f Frame) Value {
	return Value{typ: t, frame: f, pieces: []Piece{{Kind: InBytes, Bytes: p, BitSize: bitsOf(uint64(len(p)))}}}
}

func failed(t *Type, f Frame, err error) Value { return Value{typ: t, frame: f, err: err} }

// Type returns the type of the value, or nil for the zero Value. Its arrays have their length in
// the frame.
func (v Value) Type() *Type { return v.typ }

// Frame returns the frame that the value was made with; it may be nil.
func (v Value) Frame() Frame { return v.frame }

// LocationErr returns why the place of the value is not known. Unlike Err it is nil for a value
// that is too large to be read and for one of a damaged type.
func (v Value) LocationErr() error { return v.err }

// As returns the bits of the value as a value of another type. Unlike Cast it does not convert
// them.
func (v Value) As(t *Type) Value {
	v.typ = t
	return v
}

// Lost returns a value that is optimized out in a frame.
func Lost(t *Type, f Frame) Value { return Value{typ: t, frame: f} }

// Pieces returns the place of the value: one piece, unless the compiler split the value. For a part
// of a value it is the place of the whole. The slice must not be changed.
func (v Value) Pieces() []Piece { return v.pieces }

// Address returns the run-time address of a value that is in memory as a whole, and false for
// others and for bit fields.
func (v Value) Address() (uint64, bool) {
	if v.err != nil || v.bitSize != 0 || len(v.pieces) != 1 || v.pieces[0].Kind != InMemory {
		return 0, false
	}
	at := v.pieces[0].BitOffset + v.bitOffset
	return v.pieces[0].Address + at/8, at%8 == 0
}

// IsBitField reports whether the value is a bit field.
func (v Value) IsBitField() bool { return v.bitSize != 0 }

// BitSize returns the size of a bit field in bits, or 0 if the value is none.
func (v Value) BitSize() uint64 { return v.bitSize }

// OptimizedOut reports whether no part of the value is stored.
func (v Value) OptimizedOut() bool {
	for k := range v.pieces {
		if v.pieces[k].Kind != OptimizedOut {
			return false
		}
	}
	return v.err == nil
}

// Missing is like [Value.OptimizedOut], but for a field or an element it considers only the bits of
// that part. gdb prints one "<optimized out>" for such a part if it is printed by itself, and one
// for each of its members if the whole value is printed.
func (v Value) Missing() bool {
	size := v.bitSize
	if size == 0 && v.typ != nil {
		size = 8 * v.typ.Size()
	}
	if len(v.pieces) < 2 || size == 0 {
		return v.OptimizedOut()
	}
	at := uint64(0)
	for k := range v.pieces {
		p := &v.pieces[k]
		if p.Kind != OptimizedOut && at < v.bitOffset+size && v.bitOffset < at+p.BitSize {
			return false
		}
		at += p.BitSize
	}
	return true
}

// Err returns why the value cannot be read: ErrOptimizedOut, an error that wraps ErrTooLarge, or
// what is wrong with the location. It is nil for a value that is optimized out in part, and for
// memory that cannot be read: Bytes fails then.
func (v Value) Err() error {
	switch {
	case v.err != nil:
		return v.err
	case v.typ == nil:
		return ErrNotFound
	case v.OptimizedOut():
		return ErrOptimizedOut
	}
	if t := v.typ.Strip(); t.problem != nil {
		return t.problem
	}
	if size := v.typ.Size(); size > MaxSize {
		return fmt.Errorf("value requires %d bytes, which is more than max-value-size: %w", size, ErrTooLarge)
	}
	return nil
}

// Bytes reads the value: Size bytes of its type in the machine's byte order. A bit field is
// widened. The caller owns the slice. The error is that of Err, a *MemoryError, or wraps
// ErrOptimizedOut if a part is missing.
func (v Value) Bytes() ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	b := make([]byte, v.typ.Size())
	if err := v.read(b); err != nil {
		return nil, err
	}
	return b, nil
}

// BytesIn is like [Value.Bytes], but reads into buffer if the value fits, and then returns a part
// of buffer.
func (v Value) BytesIn(buffer []byte) ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	size := v.typ.Size()
	if size > uint64(len(buffer)) {
		return v.Bytes()
	}
	b := buffer[:size]
	return b, v.read(b)
}

// read reads the bytes that Bytes returns into b. Err must be nil.
func (v Value) read(b []byte) error {
	m := v.typ.machine
	size := uint64(len(b))
	if v.bitSize == 0 {
		if t := v.typ.named(); t.kind == Array && t.isSpread() {
			return v.readSpread(b, t)
		}
		if address, ok := v.Address(); ok {
			return v.readMemory(b, address)
		}
		return v.gather(b, nil, v.bitOffset, 8*size)
	}
	width := min(v.bitSize, 8*size, 64)
	packed := make([]byte, (width+7)/8)
	if err := v.gather(packed, nil, v.bitOffset, width); err != nil {
		return err
	}
	n := number.Uint(m.Order, packed)
	if number.IsBigEndian(m) {
		n >>= 8*uint64(len(packed)) - v.bitSize
	}
	if v.typ.Signed() {
		n = number.SignExtend(n, v.bitSize)
	}
	number.PutUint(m.Order, b, n)
	return nil
}

// part returns the value of a type at an offset in v, in bytes.
func (v Value) part(t *Type, offset int64) Value {
	if address, ok := v.Address(); ok {
		return At(t, address+uint64(offset), v.frame)
	}
	v.typ = t
	if offset < 0 || uint64(offset) > 1<<56 {
		v.err = fmt.Errorf("%w: %d bytes into a value", ErrNoAddress, offset)
	}
	v.bitOffset += uint64(offset) * 8
	return v
}

// referent returns the object that a reference refers to, and other values unchanged.
func (v Value) referent() Value {
	if v.err == nil && v.typ != nil {
		if k := v.typ.Strip().kind; k == Reference || k == RvalueReference {
			return v.Deref()
		}
	}
	return v
}

// Field returns field i of [Type.Fields] of a structure, class or union, or of a reference to
// one.
func (v Value) Field(i int) Value {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return v
	}
	t := v.typ.Strip()
	fields := t.Fields()
	if i < 0 || i >= len(fields) {
		return failed(t, v.frame, fmt.Errorf("%w: field %d of %s, which has %d", ErrType, i, v.typ, len(fields)))
	}
	return v.Member(&fields[i])
}

// Member returns a member of a structure, class or union: a field of its type, or one from
// VariantFields.
func (v Value) Member(f *Field) Value {
	switch {
	case f.Static != nil:
		return f.Static.Read(v.frame)
	case f.Virtual:
		return v.virtualBase(f).resolved(&v)
	case f.BitSize != 0:
		v.typ, v.bitSize = f.Type, f.BitSize
		v.bitOffset += f.BitOffset
		return v
	case f.Offset > 1<<56:
		return failed(f.Type, v.frame, fmt.Errorf("%w: field at %#x", ErrDebugInfo, f.Offset))
	}
	return v.part(f.Type, int64(f.Offset)).resolved(&v)
}

// virtualBase returns a virtual base class. Its offset is in the virtual table (Itanium C++ ABI
// §2.5.2). The location of the member, an expression on the object's address, reads it.
func (v Value) virtualBase(f *Field) Value {
	address, ok := v.Address()
	if !ok || v.frame == nil || f.location == nil {
		return failed(f.Type, v.frame, fmt.Errorf("virtual base class: %w", ErrNoAddress))
	}
	e := newEvaluator(f.info, f.unit, nil, v.frame)
	defer e.release()
	e.object, e.hasObject = address, true
	if err := e.push(element{lo: address}); err != nil {
		return failed(f.Type, v.frame, err)
	}
	n, err := e.number(e.program(f.location))
	if err != nil {
		return failed(f.Type, v.frame, err)
	}
	return At(f.Type, n.lo, v.frame)
}

// FieldByName returns the field with a name, including those of anonymous members and base classes.
// Its Err wraps ErrNotFound if there is none.
func (v Value) FieldByName(name string) Value {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return v
	}
	budget := 1000
	if found, ok := v.named(name, 0, &budget); ok {
		return found
	}
	return failed(v.typ, v.frame, fmt.Errorf("there is no member named %s: %w", name, ErrNotFound))
}

func (v Value) named(name string, depth int, budget *int) (Value, bool) {
	if *budget--; depth > maxChain || *budget < 0 {
		return v, false
	}
	fields := v.typ.Strip().Fields()
	for k := range fields {
		if f := &fields[k]; f.Name == name && !f.Base {
			return v.Field(k), true
		}
	}
	for k := range fields {
		if f := &fields[k]; f.Base || f.Name == "" && f.Static == nil {
			if inner := v.Field(k); inner.err == nil {
				if found, ok := inner.named(name, depth+1, budget); ok {
					return found, true
				}
			}
		}
	}
	return v, false
}

// Index returns element i of an array, or of the array to which a pointer points. As in C, i may be
// outside of the array's bounds if the array is in memory.
func (v Value) Index(i int64) Value {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return v
	}
	t := v.typ.Strip()
	elem := t.Elem()
	switch t.kind {
	case Array:
		i -= t.lower
		if n, known := t.Len(); known && (i < 0 || uint64(i) >= n) {
			if _, ok := v.Address(); !ok {
				return failed(elem, v.frame, fmt.Errorf("%w: element %d of %d", ErrNoAddress, i, n))
			}
		}
		step := t.step()
		high, low := bits.Mul64(uint64(max(i, 0)), uint64(max(step, -step)))
		if high != 0 || low > 1<<59 {
			return failed(elem, v.frame, fmt.Errorf("%w: element %d of %d bits each", ErrNoAddress, i, step))
		}
		if step%8 != 0 {
			return v.packedElement(elem, i*step, max(step, -step))
		}
		return v.part(elem, i*(step/8)).resolved(nil)
	case Pointer:
		p := v.Deref()
		if p.err != nil {
			return p
		}
		return p.part(elem, i*int64(elem.Size())).resolved(nil)
	}
	return failed(v.typ, v.frame, fmt.Errorf("%w: cannot subscript %s", ErrType, v.typ))
}

// Deref returns the target of a pointer or a reference.
func (v Value) Deref() Value {
	if v.err != nil || v.typ == nil {
		return v
	}
	t := v.typ.Strip()
	switch t.kind {
	case Pointer, Reference, RvalueReference:
	default:
		return failed(v.typ, v.frame, fmt.Errorf("%w: cannot dereference %s", ErrType, v.typ))
	}
	if p := v.implicit(); p != nil {
		return v.synthetic(p, t.Elem())
	}
	b, err := v.Bytes()
	if err != nil {
		return failed(t.Elem(), v.frame, err)
	}
	return At(t.Elem(), number.Uint(t.machine.Order, b), v.frame).resolved(nil)
}

// Resolved returns the value with the lengths of its type that depend on its frame, such as those of
// C's arrays of variable length.
func (v Value) Resolved() Value { return v.resolved(nil) }

// Synthetic reports whether the value is a pointer to an object that is not stored in memory.
func (v Value) Synthetic() bool { return v.implicit() != nil }

// implicit returns the piece of a value that is an implicit pointer, or nil.
func (v Value) implicit() *Piece {
	at := v.bitOffset
	for k := range v.pieces {
		p := &v.pieces[k]
		if at < p.BitSize {
			if p.Kind == ImplicitPointer && at == 0 {
				return p
			}
			return nil
		}
		at -= p.BitSize
	}
	return nil
}

// synthetic returns the target of an implicit pointer (DWARF 5 §2.6.1.1.4).
func (v Value) synthetic(p *Piece, t *Type) Value {
	target, err := p.info.variableBy(p.entry, p.body)
	if err != nil {
		return failed(t, v.frame, err)
	}
	found := target.Read(v.frame)
	if found.err != nil {
		return found
	}
	return found.part(t, p.offset)
}
