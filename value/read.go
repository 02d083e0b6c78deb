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

// variableNumber returns the value of the variable at an offset of .debug_info. b is its function,
// or nil if it is not local.
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

// variableBy is variableAt for callers that do not hold the lock.
func (i *Info) variableBy(off object.DebugOffset, b *body) (v *Variable, err error) {
	err = i.locked(func() error {
		v, err = i.variableAt(off, b)
		return err
	})
	return v, err
}

// Read returns the variable's value in a frame: that of the variable's scope, or for a global any
// Frame of its object, such as [Static]. If there is no value, [Value.Err] returns the reason.
func (v *Variable) Read(f Frame) Value {
	e := newEvaluator(v.info, v.unit, v.body, f)
	defer e.release()
	return v.readBy(e)
}

// readBy is Read in the frame of a new evaluator.
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

// readAs reads the variable as a value of a type.
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
			b = append(bytes.Clone(b), make([]byte, size-10)...) // clang omits the padding
		}
		return Constant(t, b, e.frame)
	case entry.AttributeText:
		return Constant(t, append([]byte(c.Text), 0), e.frame)
	}
	if v.external {
		val.err = fmt.Errorf("%w: %s is only declared", ErrNotFound, v.Name)
		return val
	}
	p, err := v.program(e)
	if err != nil {
		val.err = err
		return val
	}
	val.pieces, val.err = e.locate(p, size)
	if val.err == nil && t.dynamicType() != nil {
		return e.resolveObject(val)
	}
	return val
}

// ReadEntry returns the value that an argument had when the function was called, if the caller
// knows it (DWARF 5 §3.4.2). gdb calls it x@entry. The Err of the Value wraps ErrNotFound if it is
// not known, as usual in unoptimized code.
func (v *Variable) ReadEntry(f Frame) Value {
	e := newEvaluator(v.info, v.unit, v.body, f)
	defer e.release()
	val, err := v.entryBy(e)
	if err != nil {
		return failed(v.Type, f, err)
	}
	return val
}

// entryBy is ReadEntry in the frame of an evaluator.
func (v *Variable) entryBy(e *evaluator) (Value, error) {
	if e.frame == nil || !v.Argument || v.escape != nil || v.body == nil || v.constant.Kind != entry.AttributeAbsent {
		return Value{}, errNoEntryValue
	}
	p := v.entryParameter()
	if p == nil {
		return Value{}, errNoEntryValue
	}
	n, err := e.atCall(p, &v.lastEntry)
	if err != nil {
		return Value{}, err
	}
	size := v.Type.Size()
	var b []byte
	switch {
	case size <= 8:
		b = number.Low(v.info.machine, e.number8(n), int(size))
	case n.typ != nil && n.typ.size == size: // at most 16
		b = number.Low(v.info.machine, e.toBytes(n), int(size))
	default:
		return Value{}, errNoEntryValue
	}
	return Value{typ: v.Type, frame: e.frame, pieces: e.single(Piece{Kind: InBytes, Bytes: b, BitSize: bitsOf(size)})}, nil
}

// entryParameter returns the parameter in which a call passes an argument, or nil if it is not
// known.
func (v *Variable) entryParameter() *parameter {
	v.entryOnce.Do(func() {
		e := newEvaluator(v.info, v.unit, v.body, nil)
		defer e.release()
		var p *program
		switch v.location.Kind {
		case entry.AttributeBlock:
			p = e.program(v.location.Bytes)
		case entry.AttributeList:
			// The location at the first instruction is where the call passed the argument.
			p, _ = e.listed(v.location.List, v.body.entry) // nil on an error
		}
		if p == nil {
			return
		}
		parameter := p.parameter
		switch {
		case !p.isParameter || parameter.kind == parameterMemory:
			return
		case parameter.kind == parameterStack && v.location.Kind == entry.AttributeBlock && parameter.offset < 0:
			return // below the return address are the function's own variables
		}
		// For a reference, gdb needs the value that it refers to.
		kind := v.Type.Strip().kind
		parameter.data = kind == Reference || kind == RvalueReference
		v.entry = &parameter
	})
	return v.entry
}

// number8 returns the low eight bytes of a number.
func (e *evaluator) number8(v element) []byte {
	b := e.wordBuffer()[:8]
	number.PutUint(e.info.machine.Order, b, v.lo)
	return b
}

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
		place, err = e.simple()
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
