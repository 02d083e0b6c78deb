// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"

	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
)

// plain describes a variable whose value is printed as the number in its bytes, as most
// arguments are. Backtraces read it without making a Value.
type plain struct {
	typ  *Type // without qualifiers; nil for other variables
	size int   // bytes, from 1 to 8
}

func (v *Variable) asPlain() *plain {
	v.plainOnce.Do(func() {
		if v.constant.Kind != entry.AttributeAbsent || v.external || v.escape != nil {
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

// plainState is the outcome of reading a plain variable.
type plainState uint8

const (
	plainRead  plainState = iota
	plainLost             // optimized out
	plainOther            // in several places, or in none that can be read
)

// plainActual returns the value of a plain variable in the frame of a new evaluator.
func (v *Variable) plainActual(e *evaluator) (n uint64, state plainState) {
	p, err := v.program(e)
	switch {
	case err != nil:
		return 0, plainOther
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
			break // it needs to be extended
		}
		inner := p.operations[0].inner
		passed, err := e.atCall(&inner.parameter, &inner.last)
		if err != nil {
			return 0, plainLost
		}
		return v.plainLow(passed.lo), plainRead
	}
	return v.plainResult(e, p)
}

// plainResult runs the program of a plain variable.
func (v *Variable) plainResult(e *evaluator, p *program) (n uint64, state plainState) {
	var place Piece
	err := e.run(p)
	if err == nil && len(e.pieces) == 0 {
		place = e.simple()
	}
	switch {
	case errors.Is(err, ErrOptimizedOut):
		return 0, plainLost
	case err != nil || len(e.pieces) > 0:
		return 0, plainOther
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
	return 0, plainOther
}

func (v *Variable) plainRegister(e *evaluator, column uint64) (n uint64, state plainState) {
	if b, ok := e.frame.RegisterBytes(column); ok {
		return v.plainBytes(number.Low(e.info.machine, b, v.plain.size))
	}
	if n, ok := e.frame.Register(column); ok {
		return v.plainLow(registerValue(e.info.machine, column, n, 8*uint64(v.plain.size), v.plain.typ.kind == Float)), plainRead
	}
	return 0, plainLost
}

func (v *Variable) plainMemory(e *evaluator, address uint64) (n uint64, state plainState) {
	b := e.readBytes[:v.plain.size]
	if e.frame.ReadMemory(b, address) != nil {
		return 0, plainOther
	}
	return v.plainBytes(b)
}

// plainBytes returns the number in the first bytes of b.
func (v *Variable) plainBytes(b []byte) (n uint64, state plainState) {
	if len(b) < v.plain.size {
		return 0, plainOther
	}
	return number.Uint(v.info.machine.Order, b[:v.plain.size]), plainRead
}

// plainEntry returns the value that a plain variable had when the function was called, or false
// if it is not known.
func (v *Variable) plainEntry(e *evaluator) (n uint64, ok bool) {
	if !v.Argument || v.body == nil {
		return 0, false
	}
	p := v.entryParameter()
	if p == nil {
		return 0, false
	}
	passed, err := e.atCall(p, &v.lastEntry)
	return v.plainLow(passed.lo), err == nil
}

// plainLow cuts a number to the size of a plain variable.
func (v *Variable) plainLow(n uint64) uint64 { return n & (^uint64(0) >> (64 - 8*v.plain.size)) }

// IsPlain reports whether a value is printed as the number in its bytes, as most arguments are.
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

// ArgumentReader reads the arguments of successive frames for backtraces. It reuses memory:
// reading numbers does not allocate. The zero value is ready to use, by one goroutine.
type ArgumentReader struct{ evaluator evaluator }

// ArgumentNumber is an argument whose value is a number of at most 8 bytes.
type ArgumentNumber struct {
	Type *Type // of the argument, without typedefs and qualifiers
	Size int   // bytes

	Actual, Entry       uint64 // now, and when the function was called
	HasActual, HasEntry bool   // without an Actual the argument is optimized out
}

// Number reads a variable whose value is printed as the number in its bytes. It returns false for
// other variables, and for values that are in several places or cannot be read. Use Read for
// these.
func (r *ArgumentReader) Number(v *Variable, f Frame) (n ArgumentNumber, ok bool) {
	p := v.asPlain()
	if p.typ == nil || f == nil {
		return n, false
	}
	e := r.start(v, f)
	defer e.reset()
	actual, state := v.plainActual(e)
	if state == plainOther {
		return n, false
	}
	e.ownBudget = budget{}
	n = ArgumentNumber{Type: p.typ, Size: p.size, Actual: actual, HasActual: state == plainRead}
	n.Entry, n.HasEntry = v.plainEntry(e)
	return n, true
}

// Read returns the value of a variable, and the value that it had when the function was called or
// the reason why that is not known. Both are valid until Release.
func (r *ArgumentReader) Read(v *Variable, f Frame) (actual, entry Value, entryErr error) {
	e := r.start(v, f)
	actual = v.readBy(e)
	e.ownBudget = budget{}
	entry, entryErr = v.entryBy(e)
	return actual, entry, entryErr
}

// Release invalidates the values that Read returned.
func (r *ArgumentReader) Release() { r.evaluator.reset() }

func (r *ArgumentReader) start(v *Variable, f Frame) *evaluator {
	r.evaluator.start(v.info, v.unit, v.body, f)
	r.evaluator.isTransient = true
	return &r.evaluator
}
