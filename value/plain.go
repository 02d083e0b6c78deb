// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "errors"

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
		if !(Value{typ: t}).isPlain() || t.goPlace != 0 || t.damage() != nil {
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
			return v.plainBytes(lowBytes(e.info.machine, place.Bytes, v.plain.size))
		}
		return v.plainBytes(place.Bytes)
	}
	return 0, plainElse
}

func (v *Variable) plainRegister(e *evaluator, column uint64) (n uint64, state plainState) {
	if b, ok := e.frame.RegisterBytes(column); ok {
		return v.plainBytes(lowBytes(e.info.machine, b, v.plain.size))
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
	return uintOf(v.info.machine.Order, b[:v.plain.size]), plainRead
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

// plainArgument writes an argument as AppendArgument has it; false says that it is none
// whose value is plain, and nothing was written.
func (w *printing) plainArgument(v *Variable, f Frame) bool {
	t := v.asPlain().typ
	if t == nil || f == nil {
		return false
	}
	e := w.evaluator(v, f)
	defer e.forget()
	n, state := v.plainActual(e)
	if state == plainElse {
		return false
	}
	e.own = budget{}
	entry, hasEntry := v.plainEntry(e)
	same := hasEntry && state == plainRead && n == entry
	w.add(v.Name)
	if same {
		w.add("=")
		w.add(v.Name)
		w.add("@entry")
	}
	w.add("=")
	if state == plainRead {
		w.plainNumber(v, f, n)
	} else {
		w.add("<" + optimizedOut + ">")
	}
	if hasEntry && !same {
		w.add(", ")
		w.add(v.Name)
		w.add("@entry=")
		w.plainNumber(v, f, entry)
	}
	return true
}

func (w *printing) plainNumber(v *Variable, f Frame, n uint64) {
	t := v.plain.typ
	b := w.room[:v.plain.size]
	putUint(t.machine.Order, b, n)
	w.number(Value{typ: v.Type, frame: f}, t, b)
}
