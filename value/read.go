// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
)

// call executes the location of another entry (DWARF 5 §2.5.1.5).
func (e *evaluator) call(off object.DebugOffset) error {
	var a entry.Attribute
	var u *entry.Unit
	err := e.info.locked(func() error {
		d, err := e.info.entries.Read(off)
		if err == nil {
			u = e.info.entries.UnitOf(d.Offset)
			if _, err := e.info.entries.Root(u); err != nil {
				return err
			}
			a = e.info.entries.ValueOf(d, dwarf.AttrLocation, u)
		}
		return err
	})
	if err != nil || a.Kind == entry.AttributeAbsent {
		return err
	}
	inner, err := e.within(e.info, u, e.body, e.frame)
	if err != nil {
		return err
	}
	defer inner.release()
	p, err := inner.expression(&a)
	if err != nil || p == nil {
		return err
	}
	inner.stack = e.stack
	err = inner.run(p)
	e.stack, e.place, e.placed, e.isAddress = inner.stack, inner.place, inner.placed, true
	return err
}

// variableValue pushes the value of another variable (DW_OP_GNU_variable_value).
func (e *evaluator) variableValue(off object.DebugOffset) error {
	v, err := e.variableNumber(off, e.body)
	if err != nil {
		return err
	}
	return e.push(element{lo: v})
}

// variableNumber returns the value of the variable at an offset of .debug_info, which is
// local to b where that is not nil.
func (e *evaluator) variableNumber(off object.DebugOffset, b *body) (uint64, error) {
	v, err := e.info.variableBy(off, b)
	if err != nil {
		return 0, err
	}
	inner, err := e.within(v.info, v.unit, v.body, e.frame)
	if err != nil {
		return 0, err
	}
	defer inner.release()
	return v.readIn(inner).Uint()
}

// variableBy is variableAt for code that does not hold the lock.
func (i *Info) variableBy(off object.DebugOffset, b *body) (v *Variable, err error) {
	err = i.locked(func() error {
		v, err = i.variableAt(off, b)
		return err
	})
	return v, err
}

// Read returns the variable's value in a frame, which is that of the scope the
// variable comes from; for a global it is any Frame of its object, also that of
// [Static]. Where there is no value [Value.Err] says why.
func (v *Variable) Read(f Frame) Value {
	e := newEvaluator(v.info, v.unit, v.body, f)
	defer e.release()
	return v.readBy(e)
}

// readBy is Read in the frame of an evaluator, which is new.
func (v *Variable) readBy(e *evaluator) Value {
	if e.frame == nil {
		return failed(v.Type, nil, fmt.Errorf("%w: no frame", ErrNoAddress))
	}
	val := v.readIn(e)
	if val.err == nil && val.typ != nil {
		val.err = val.typ.damage()
	}
	if errors.Is(val.err, ErrExpression) || errors.Is(val.err, ErrDebugInfo) {
		val.err = fmt.Errorf("%s: %v: %w", v.info.file, v.offset, val.err)
	}
	return val
}

func (v *Variable) readIn(e *evaluator) Value {
	if v.escape == nil {
		return v.readAs(e.goInstance(v.Type), e)
	}
	val := v.readAs(v.escape, e).Deref()
	val.typ = e.goInstance(v.Type)
	return val
}

// readAs reads what the location has, as a value of a type.
func (v *Variable) readAs(t *Type, e *evaluator) Value {
	if v.constant.Kind != entry.AttributeAbsent {
		t = e.resolve(t, 0)
	}
	val := Value{typ: t, frame: e.frame}
	size := t.Size()
	m := v.info.machine
	switch c := v.constant; c.Kind {
	case entry.AttributeConstant:
		b := make([]byte, min(size, 16))
		number.PutUint(m.Order, b, uint64(c.Number))
		if c.Number < 0 {
			number.ExtendSign(m, b)
		}
		return Constant(t, b, e.frame)
	case entry.AttributeBlock:
		b := c.Bytes
		if len(b) == 10 && size > 10 && t.Strip().format == arch.X87 {
			b = append(bytes.Clone(b), make([]byte, size-10)...) // clang leaves out the padding
		}
		return Constant(t, b, e.frame)
	case entry.AttributeText:
		return Constant(t, append([]byte(c.Text), 0), e.frame)
	}
	if v.external {
		val.err = fmt.Errorf("%w: %s is declared only", ErrNotFound, v.Name)
		return val
	}
	p, err := v.program(e)
	if err != nil {
		val.err = err
		return val
	}
	val.pieces, val.err = e.locate(p, size)
	if val.err == nil && t.dynamicType() != nil {
		return e.settle(val)
	}
	return val
}

// ReadEntry returns the value that an argument had when the function was
// called, as far as the caller knows (DWARF 5 §3.4.2); what gdb calls x@entry.
// The Err of the Value wraps ErrNotFound where nothing is known, which is the
// rule in code that is not optimized.
func (v *Variable) ReadEntry(f Frame) Value {
	e := newEvaluator(v.info, v.unit, v.body, f)
	defer e.release()
	val, err := v.entryBy(e)
	if err != nil {
		return failed(v.Type, f, err)
	}
	return val
}

// entryBy is ReadEntry in the frame of an evaluator, which may have read the variable.
func (v *Variable) entryBy(e *evaluator) (Value, error) {
	if e.frame == nil || !v.Argument || v.escape != nil || v.body == nil || v.constant.Kind != entry.AttributeAbsent {
		return Value{}, errNoEntryValue
	}
	p := v.passed()
	if p == nil {
		return Value{}, errNoEntryValue
	}
	n, err := e.atCall(p, &v.called)
	if err != nil {
		return Value{}, err
	}
	size := v.Type.Size()
	var b []byte
	switch {
	case size <= 8:
		b = number.Low(v.info.machine, e.number8(n), int(size))
	case n.typ != nil && n.typ.size == size: // 16 at most
		b = number.Low(v.info.machine, e.toBytes(n), int(size))
	default:
		return Value{}, errNoEntryValue
	}
	return Value{typ: v.Type, frame: e.frame, pieces: e.alone(Piece{Kind: InBytes, Bytes: b, BitSize: bitsOf(size)})}, nil
}

// passed returns where a call passes an argument, nil where that is not known.
func (v *Variable) passed() *parameter {
	v.enter.Do(func() {
		e := newEvaluator(v.info, v.unit, v.body, nil)
		defer e.release()
		var p *program
		switch v.location.Kind {
		case entry.AttributeBlock:
			p = e.program(v.location.Bytes)
		case entry.AttributeList:
			// The location at the first instruction is where the call passed it.
			p, _ = e.listed(v.location.List, v.body.entry) // nil with an error
		}
		if p == nil {
			return
		}
		passed := p.parameter
		switch {
		case !p.isParameter || passed.kind == parameterMemory:
			return
		case passed.kind == parameterStack && v.location.Kind == entry.AttributeBlock && passed.offset < 0:
			return // what lies below the return address is the function's own
		}
		// Of a reference gdb wants to know what it led to.
		kind := v.Type.Strip().kind
		passed.data = kind == Reference || kind == RvalueReference
		v.entry = &passed
	})
	return v.entry
}

// number8 returns the low eight bytes of a number.
func (e *evaluator) number8(v element) []byte {
	b := e.wordBuffer()[:8]
	number.PutUint(e.info.machine.Order, b, v.lo)
	return b
}

// plain is what is known of a variable whose value is printed as the number that a few
// bytes are, as most arguments' are: backtraces read it without making a Value of it.
type plain struct {
	typ  *Type // without qualifiers; nil of another variable
	size int   // bytes, from 1 to 8
}

// asPlain returns it.
func (v *Variable) asPlain() *plain {
	v.look.Do(func() {
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
// false where the call does not say it.
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
