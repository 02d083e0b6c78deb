// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// Result is the place in which a function returns a value of a type.
type Result struct {
	values   *Values
	typ      *value.Type
	inMemory bool   // at an address that the caller passes
	address  uint64 // that address, 0 if it is unknown
	parts    []part // otherwise
}

// part is the part of a value in one register.
type part struct {
	class partClass
	n     int    // index of the register in its class
	size  uint64 // bytes
}

type partClass uint8

const (
	noPart       partClass = iota // padding
	wordPart                      // rax, rdx; x0, x1
	vectorPart                    // the low bytes of xmm0, xmm1; v0 to v3
	extendedPart                  // st(0)
)

// resultRules returns the places in which C functions of this machine return values.
func resultRules() *arch.Results {
	if r := jit.Host().Results; r != nil {
		return r
	}
	return new(arch.Results)
}

// registers returns the columns of the registers of a class.
func (c partClass) registers() []uint8 {
	r := resultRules()
	return [...][]uint8{wordPart: r.Words, vectorPart: r.Vectors, extendedPart: r.Extended}[c]
}

// Result returns the place in which functions return a value of a type, for a call that this
// package has not prepared. It is an error if the place is unknown.
func (v *Values) Result(t *value.Type) (*Result, error) {
	r := &Result{values: v, typ: t}
	s := t.Strip()
	size := s.Size()
	unknown := fmt.Errorf("it returns a %s in registers that Clew cannot read: call a function that stores it", t)
	switch {
	case s.Kind() == value.Void:
		return r, nil
	case hasVector(t), t.Incomplete():
		return nil, unknown
	case s.Indirect():
		r.inMemory = true
		return r, nil
	}
	rules := resultRules()
	if rules.Words == nil {
		return nil, unknown
	}
	if rules.Homogeneous > 0 {
		if n, element := homogeneous(s, new(walk)); n >= 1 && n <= rules.Homogeneous && (element == 4 || element == 8) {
			for i := range n {
				r.parts = append(r.parts, part{vectorPart, i, element})
			}
			return r, nil
		}
		if s.Kind() == value.Float || s.Kind() == value.Complex || hasOtherFloat(s) {
			return nil, unknown
		}
	} else if s.Kind() == value.Float && s.Name() == "long double" {
		r.parts = []part{{extendedPart, 0, size}}
		return r, nil
	} else if size <= 16 && hasOtherFloat(s) {
		return nil, unknown
	}
	if size > 16 {
		switch s.Kind() {
		case value.Struct, value.Class, value.Union, value.Array:
			r.inMemory = true
			return r, nil
		}
		return nil, unknown // a complex long double is in st(0) and st(1)
	}
	var classes [2]partClass
	switch {
	case rules.Homogeneous > 0:
		classes = [2]partClass{wordPart, wordPart}
	case !classify(s, 0, &classes, new(walk)):
		r.inMemory = true
		return r, nil
	}
	var used [extendedPart + 1]int
	for i := range (size + 7) / 8 {
		class := classes[i]
		r.parts = append(r.parts, part{class, used[class], min(8, size-8*i)})
		used[class]++
	}
	return r, nil
}

// walk counts the types that a function visits. Damaged debugging information can nest types
// without end.
type walk int

func (w *walk) exceeded() bool {
	*w++
	return *w > 1000
}

// classify classifies the eightbytes of a type at an offset (psABI amd64 §3.2.3). The type
// must not have floating-point numbers of more than 8 bytes. The result is false for the
// class MEMORY.
func classify(t *value.Type, offset uint64, classes *[2]partClass, w *walk) bool {
	if w.exceeded() || offset >= 16 {
		return false
	}
	merge := func(at uint64, class partClass) {
		if old := &classes[min(at/8, 1)]; *old == noPart || class == wordPart {
			*old = class
		}
	}
	t = t.Strip()
	switch t.Kind() {
	case value.Struct, value.Class, value.Union:
		for _, f := range t.Fields() {
			switch {
			case f.Static != nil:
			case f.BitSize > 0:
				merge((offset*8+f.BitOffset)/64*8, wordPart)
				merge((offset*8+f.BitOffset+f.BitSize-1)/64*8, wordPart)
			case f.Virtual || (offset+f.Offset)%f.Type.Align() != 0:
				return false // packed
			case !classify(f.Type, offset+f.Offset, classes, w):
				return false
			}
		}
		return true
	case value.Array:
		n, _ := t.Len()
		size := t.Elem().Size()
		for i := uint64(0); i < n && size > 0; i++ {
			if !classify(t.Elem(), offset+i*size, classes, w) {
				return false
			}
		}
		return true
	case value.Complex:
		merge(offset, vectorPart)
		merge(offset+t.Size()/2, vectorPart)
		return true
	case value.Float:
		merge(offset, vectorPart)
		return true
	}
	merge(offset, wordPart)
	if t.Size() > 8 {
		merge(offset+8, wordPart)
	}
	return true
}

// homogeneous returns the number of floating-point numbers, up to 5, in a type that consists
// of them, and their common size (AAPCS64 §5.9.5). The number is 0 for other types.
func homogeneous(t *value.Type, w *walk) (n int, size uint64) {
	if w.exceeded() {
		return 0, 0
	}
	t = t.Strip()
	switch t.Kind() {
	case value.Float:
		return 1, t.Size()
	case value.Complex:
		return 2, t.Size() / 2
	case value.Array:
		length, _ := t.Len()
		n, size = homogeneous(t.Elem(), w)
		return int(min(uint64(n)*length, 5)), size
	case value.Struct, value.Class, value.Union:
		for _, f := range t.Fields() {
			if f.Static != nil {
				continue
			}
			fieldN, fieldSize := homogeneous(f.Type, w)
			if f.BitSize > 0 || fieldN == 0 || fieldSize == 0 || size != 0 && size != fieldSize {
				return 0, 0
			}
			size = fieldSize
			if t.Kind() == value.Union {
				n = max(n, fieldN)
			} else {
				n = min(n+fieldN, 5)
			}
		}
		if uint64(n)*size != t.Size() && n < 5 {
			return 0, 0
		}
	}
	return n, size
}

// has reports whether a type, or a part of it, satisfies is. It is true for too many parts.
func has(t *value.Type, w *walk, is func(*value.Type) bool) bool {
	t = t.Strip()
	if is(t) || w.exceeded() {
		return true
	}
	switch t.Kind() {
	case value.Array:
		return has(t.Elem(), w, is)
	case value.Struct, value.Class, value.Union:
		for _, f := range t.Fields() {
			if f.Static == nil && has(f.Type, w, is) {
				return true
			}
		}
	}
	return false
}

// hasVector reports whether a type has a vector. The registers of vectors depend on the size
// and the processor.
func hasVector(t *value.Type) bool {
	return has(t, new(walk), func(t *value.Type) bool {
		return t.Kind() == value.Array && strings.Contains(t.String(), "vector_size")
	})
}

// hasOtherFloat reports whether a type has floating-point numbers of other sizes than 4 and
// 8 bytes, or decimal ones.
func hasOtherFloat(t *value.Type) bool {
	return has(t, new(walk), func(t *value.Type) bool {
		return t.Kind() == value.Decimal || t.Kind() == value.Float && t.Size() != 4 && t.Size() != 8
	})
}

// InRegister reports whether the caller passes the address of the memory for the result in a
// register that session.Arguments cannot set.
func (r *Result) InRegister() bool { return r.address != 0 && resultRules().Address != 0 }

// Value reads the value that a function has just returned. stop is the end of the call, or nil
// if the function's caller is stopped. The value of a function without one is the zero Value.
func (r *Result) Value(stop *session.Stop) (value.Value, error) {
	s, outside := r.values.session, r.values.Outside()
	host, rules := jit.Host(), resultRules()
	register := func(column uint8) ([]byte, error) {
		name := host.RegisterName(uint64(column))
		if stop != nil {
			if b, ok := stop.ResultRegister(name); ok {
				return b, nil
			}
		}
		return s.Register(name)
	}
	switch {
	case r.typ.Strip().Kind() == value.Void:
		return value.Value{}, nil
	case r.inMemory && r.address == 0 && rules.Address != 0:
		return value.Value{}, fmt.Errorf("it returned a %s in memory, at an unknown address (%s had it at the start of the function)",
			r.typ, host.RegisterName(uint64(rules.Address)))
	case r.inMemory && r.address == 0 && stop != nil:
		return value.At(r.typ, stop.Result, outside), nil
	case r.inMemory && r.address == 0:
		b, err := register(rules.Words[0])
		if err != nil {
			return value.Value{}, err
		}
		return value.At(r.typ, binary.LittleEndian.Uint64(b), outside), nil
	case r.inMemory:
		return value.At(r.typ, r.address, outside), nil
	}
	var contents []byte
	for _, p := range r.parts {
		b := make([]byte, 16)
		switch {
		case p.class == noPart:
		case stop != nil && p.class == wordPart:
			binary.LittleEndian.PutUint64(b, [2]uint64{stop.Result, stop.Result2}[p.n])
		case stop != nil && p.class == vectorPart && p.n == 0:
			binary.LittleEndian.PutUint64(b, math.Float64bits(stop.FloatResult))
		default:
			contents, err := register(p.class.registers()[p.n])
			if err != nil {
				return value.Value{}, fmt.Errorf("it returned a %s: %w", r.typ, err)
			}
			copy(b, contents)
		}
		contents = append(contents, b[:p.size]...)
	}
	return value.Constant(r.typ, contents, outside), nil
}

// InMemory reports whether the function stores the value at an address that the caller passes.
func (r *Result) InMemory() bool { return r.inMemory }

// Set sets the registers in which the function returns the value to the value's bytes.
func (r *Result) Set(p []byte) error {
	s, host := r.values.session, jit.Host()
	for _, part := range r.parts {
		switch part.class {
		case noPart:
		case extendedPart:
			return fmt.Errorf("a %s cannot be set as the result", r.typ)
		default:
			name := host.RegisterName(uint64(part.class.registers()[part.n]))
			b, err := s.Register(name)
			if err != nil {
				return err
			}
			if uint64(copy(b, p[:part.size])) < part.size {
				return fmt.Errorf("register %s has only %d bytes", name, len(b))
			}
			if err := s.SetRegister(name, b); err != nil {
				return err
			}
		}
		p = p[part.size:]
	}
	return nil
}
