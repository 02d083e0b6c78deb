// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

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
	inner := e.within(e.info, u, e.body, e.frame)
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
	inner := e.within(v.info, v.unit, v.body, e.frame)
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

// Read returns the variable's value in a frame. The frame must be in the variable's scope. For a
// global, any Frame of its object is possible, such as [Static]. If there is no value, [Value.Err]
// returns the reason.
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

// Variable is a variable, an argument or a named constant. Goroutines share it: do not modify it.
type Variable struct {
	Name       string // qualified for a global of C++: "ns::count"
	Type       *Type
	Argument   bool
	Artificial bool // made by the compiler, such as this
	External   bool // visible outside of its unit
	Line       int  // of the declaration, 0 if not known

	info         *Info
	offset       object.DebugOffset // of its entry
	unit         *entry.Unit
	body         *body // the function to which it is local; nil for globals
	location     entry.Attribute
	constant     entry.Attribute // DW_AT_const_value
	goResult     bool            // the result of a function of Go
	compilerMade bool            // for the compiler's own use
	escape       *Type           // if Go moved the variable to the heap: the pointer type of the location
	external     bool            // a declaration of a variable that is defined elsewhere
	inlined      bool            // of an inlined call

	entryOnce sync.Once  // for entry
	entry     *parameter // see entryParameter
	lastEntry lastParameter

	numberOnce sync.Once // for isNumber
	isNumber   bool      // see isGoNumber

	plainOnce sync.Once // for plain
	plain     plain     // see asPlain

	located atomic.Pointer[[]located] // a cache: see programAt
}

// located is the location of a variable at an address of the file.
type located struct {
	pc      uint64
	program *program // nil if there is none
}

// maxLocated bounds the number of locations that a variable caches: the frames of a function are
// at few addresses.
const maxLocated = 4

// program returns the program of the location at the address of an evaluator's frame, or nil.
func (v *Variable) program(e *evaluator) (*program, error) {
	if v.location.Kind != entry.AttributeList {
		return v.programAt(e, 0)
	}
	pc, lookup := e.frame.ProgramCounter()
	if v.unit.GoPlain && pc != lookup {
		// Arguments in registers were stored before the first call. Their lists say so only
		// from the first return address on.
		if p, err := v.programAt(e, pc); p != nil || err != nil {
			return p, err
		}
	}
	return v.programAt(e, lookup)
}

// programAt is program at a run-time address, which matters only for a location list.
func (v *Variable) programAt(e *evaluator, pc uint64) (*program, error) {
	if v.location.Kind == entry.AttributeList {
		pc -= e.frame.Bias()
	}
	var known []located
	if list := v.located.Load(); list != nil {
		known = *list
	}
	for k := range known {
		if known[k].pc == pc {
			return known[k].program, nil
		}
	}
	p, err := e.expressionAt(&v.location, pc)
	if p != nil && v.isGoList() {
		p = v.goProgram(p)
	}
	if err == nil && len(known) < maxLocated && p.isSmall() {
		list := append(known[:len(known):len(known)], located{pc, p})
		v.located.Store(&list) // may lose an entry that another goroutine stored, which is then found again
	}
	return p, err
}

// Declared reports whether the variable is only declared here and defined in another object.
// Read fails then.
func (v *Variable) Declared() bool { return v.external }
