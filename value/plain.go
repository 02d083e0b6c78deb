// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"

	"github.com/clewdev/clew/value/internal/number"
)

// plain is what is known of a variable whose value is printed as the number that a few
// bytes are, as most arguments' are: backtraces read it without making a Value of it.
type plain struct {
	typ  *Type // without qualifiers; nil of another variable
	size int   // bytes, from 1 to 8
}

// asPlain returns it.
func (v *Variable) asPlain() *plain {
	v.look.Do(func() {
		if v.constant.kind != attributeAbsent || v.external || v.escape != nil {
			return
		}
		t := v.Type
		if !(Value{typ: t}).IsPlain() || t.goPlace != 0 || t.damage() != nil {
			return
		}
		if size := t.Size(); size > 0 && size <= 8 {
			v.plain = plain{t.Strip(), int(size)}
		}
	})
	return &v.plain
}

// plainState is what became of the number.
type plainState uint8

const (
	plainRead plainState = iota
	plainLost            // it is optimized out
	plainElse            // it lies in several places, or in none that can be read
)

// plainActual returns the number that a plain variable is in the frame of an evaluator,
// which is new.
func (v *Variable) plainActual(e *evaluator) (n uint64, state plainState) {
	p, err := v.program(e)
	switch {
	case err != nil:
		return 0, plainElse
	case p == nil:
		return 0, plainLost
	}
	switch p.form {
	case registerForm:
		if n, state := v.plainRegister(e, p.parameter.column); state == plainRead {
			return n, state
		}
	case frameForm:
		if base, err := e.frameBase(); err == nil {
			return v.plainMemory(e, e.mask(base+uint64(p.parameter.offset)))
		}
	case entryForm:
		if v.plain.size > e.info.machine.AddressSize {
			break // it is extended
		}
		of := p.operations[0].inner
		passed, err := e.atCall(&of.parameter, &of.passed)
		if err != nil {
			return 0, plainLost
		}
		return v.plainLow(passed.lo), plainRead
	}
	return v.plainResult(e, p)
}

// plainResult runs the program that ends in a plain variable.
func (v *Variable) plainResult(e *evaluator, p *program) (n uint64, state plainState) {
	var place Piece
	err := e.run(p)
	if err == nil && len(e.pieces) == 0 {
		place, err = e.simple()
	}
	switch {
	case errors.Is(err, ErrOptimizedOut):
		return 0, plainLost
	case err != nil || len(e.pieces) > 0:
		return 0, plainElse
	}
	switch place.Kind {
	case OptimizedOut:
		return 0, plainLost
	case InMemory:
		return v.plainMemory(e, place.Address)
	case InRegister:
		return v.plainRegister(e, place.Column)
	case InBytes:
		if place.number {
			return v.plainBytes(number.Low(e.info.machine, place.Bytes, v.plain.size))
		}
		return v.plainBytes(place.Bytes)
	}
	return 0, plainElse
}

func (v *Variable) plainRegister(e *evaluator, column uint64) (n uint64, state plainState) {
	if b, ok := e.frame.RegisterBytes(column); ok {
		return v.plainBytes(number.Low(e.info.machine, b, v.plain.size))
	}
	if n, ok := e.frame.Register(column); ok {
		return v.plainLow(held(e.info.machine, column, n, 8*uint64(v.plain.size), v.plain.typ.kind == Float)), plainRead
	}
	return 0, plainLost
}

func (v *Variable) plainMemory(e *evaluator, address uint64) (n uint64, state plainState) {
	b := e.read[:v.plain.size]
	if e.frame.ReadMemory(b, address) != nil {
		return 0, plainElse
	}
	return v.plainBytes(b)
}

// plainBytes returns the number that a plain variable is which begins with b.
func (v *Variable) plainBytes(b []byte) (n uint64, state plainState) {
	if len(b) < v.plain.size {
		return 0, plainElse
	}
	return number.Uint(v.info.machine.Order, b[:v.plain.size]), plainRead
}

// plainEntry returns the number that a plain variable was when the function was called,
// false where the call does not tell.
func (v *Variable) plainEntry(e *evaluator) (n uint64, ok bool) {
	if !v.Argument || v.body == nil {
		return 0, false
	}
	p := v.passed()
	if p == nil {
		return 0, false
	}
	passed, err := e.atCall(p, &v.called)
	return v.plainLow(passed.lo), err == nil
}

// plainLow returns the bytes of a number that a plain variable has.
func (v *Variable) plainLow(n uint64) uint64 { return n & (^uint64(0) >> (64 - 8*v.plain.size)) }

// IsPlain reports whether a value is printed as the number that its bytes are, which
// most arguments are.
func (v Value) IsPlain() bool {
	if v.err != nil || v.typ == nil || v.typ.GoType() != nil || v.implicit() != nil {
		return false
	}
	switch t := v.typ.Strip(); t.kind {
	case Bool, Char, Int, Float, Decimal, Complex, Enum, Pointer, MemberPointer:
		return !t.partial
	}
	return false
}

// ArgumentReader reads the arguments of frames one after another, as backtraces print
// them. It keeps the memory that evaluating takes: reading numbers does not allocate. The
// zero value is ready to use, by one goroutine.
type ArgumentReader struct{ evaluator evaluator }

// ArgumentNumber is an argument whose value is a number of at most 8 bytes.
type ArgumentNumber struct {
	Type *Type // of the argument, without typedefs and qualifiers
	Size int   // bytes

	Actual, Entry       uint64 // now, and when the function was called
	HasActual, HasEntry bool   // an Actual that is not known is optimized out
}

// Number reads a variable whose value is printed as the number that its bytes are. It
// returns false for other variables, and for values that lie in several places or cannot be
// read: Read reads these.
func (r *ArgumentReader) Number(v *Variable, f Frame) (n ArgumentNumber, ok bool) {
	p := v.asPlain()
	if p.typ == nil || f == nil {
		return n, false
	}
	e := r.start(v, f)
	defer e.forget()
	actual, state := v.plainActual(e)
	if state == plainElse {
		return n, false
	}
	e.own = budget{}
	n = ArgumentNumber{Type: p.typ, Size: p.size, Actual: actual, HasActual: state == plainRead}
	n.Entry, n.HasEntry = v.plainEntry(e)
	return n, true
}

// Read returns the value of a variable, and the value that it had when the function was
// called, or why that is not known. Both are valid until Release.
func (r *ArgumentReader) Read(v *Variable, f Frame) (actual, entry Value, entryErr error) {
	e := r.start(v, f)
	actual = v.readBy(e)
	e.own = budget{}
	entry, entryErr = v.entryBy(e)
	return actual, entry, entryErr
}

// Release ends the use of the values that Read returned.
func (r *ArgumentReader) Release() { r.evaluator.forget() }

func (r *ArgumentReader) start(v *Variable, f Frame) *evaluator {
	r.evaluator.start(v.info, v.unit, v.body, f)
	r.evaluator.lent = true
	return &r.evaluator
}
