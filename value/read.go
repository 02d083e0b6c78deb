// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// call executes the location of another entry (DWARF 5 §2.5.1.5).
func (e *evaluator) call(entry object.DebugOffset) error {
	var a attribute
	var u *unit
	err := e.info.locked(func() error {
		d, err := e.info.read(entry)
		if err == nil {
			u = e.info.unitOf(d.Offset)
			if _, err := e.info.root(u); err != nil {
				return err
			}
			a = e.info.valueOf(d, dwarf.AttrLocation, u)
		}
		return err
	})
	if err != nil || a.kind == attributeAbsent {
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
func (e *evaluator) variableValue(entry object.DebugOffset) error {
	v, err := e.variableNumber(entry, e.body)
	if err != nil {
		return err
	}
	return e.push(element{lo: v})
}

// variableNumber returns the value of the variable at an offset of .debug_info, which is
// local to b where that is not nil.
func (e *evaluator) variableNumber(entry object.DebugOffset, b *body) (uint64, error) {
	v, err := e.info.variableBy(entry, b)
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
	if v.constant.kind != attributeAbsent {
		t = e.resolve(t, 0)
	}
	val := Value{typ: t, frame: e.frame}
	size := t.Size()
	m := v.info.machine
	switch c := v.constant; c.kind {
	case attributeConstant:
		b := make([]byte, min(size, 16))
		number.PutUint(m.Order, b, uint64(c.number))
		if c.number < 0 {
			number.ExtendSign(m, b)
		}
		return Constant(t, b, e.frame)
	case attributeBlock:
		b := c.bytes
		if len(b) == 10 && size > 10 && t.Strip().format == number.X87 {
			b = append(bytes.Clone(b), make([]byte, size-10)...) // clang leaves out what only fills the room
		}
		return Constant(t, b, e.frame)
	case attributeText:
		return Constant(t, append([]byte(c.text), 0), e.frame)
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
// called, as far as the caller tells (DWARF 5 §3.4.2); what gdb calls x@entry.
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
	if e.frame == nil || !v.Argument || v.escape != nil || v.body == nil || v.constant.kind != attributeAbsent {
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
		switch v.location.kind {
		case attributeBlock:
			p = e.program(v.location.bytes)
		case attributeList:
			// The location at the first instruction is where the call passed it.
			p, _ = e.listed(v.location.list, v.body.entry) // nil with an error
		}
		if p == nil {
			return
		}
		entry := p.parameter
		switch {
		case !p.isParameter || entry.kind == parameterMemory:
			return
		case entry.kind == parameterStack && v.location.kind == attributeBlock && entry.offset < 0:
			return // what lies below the return address is the function's own
		}
		// Of a reference gdb wants to know what it led to.
		kind := v.Type.Strip().kind
		entry.data = kind == Reference || kind == RvalueReference
		v.entry = &entry
	})
	return v.entry
}

// number8 returns the low eight bytes of a number.
func (e *evaluator) number8(v element) []byte {
	b := e.wordRoom()[:8]
	number.PutUint(e.info.machine.Order, b, v.lo)
	return b
}
