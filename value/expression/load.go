// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// maxCallers bounds the number of callers that are searched for the frame of another function.
const maxCallers = 1024

var (
	errNoRegisters = &Error{Message: "No registers."}
	errNoFrame     = &Error{Message: "No frame selected."}
)

// operandOf returns a value as an operand. It does not read memory.
func (e *Expression) operandOf(v value.Value) operand {
	if v.Type() == nil {
		return operand{kind: voidOperand}
	}
	o := operand{typ: v.Type(), form: formOf(v.Type())}
	if o.form.kind == value.Void {
		return operand{kind: voidOperand, typ: o.typ}
	}
	if address, ok := v.Address(); ok && v.Err() == nil && v.Frame() == e.frame {
		o.kind, o.bits = memoryOperand, address
		return o
	}
	return held(v.Type(), v)
}

// variable returns the object or constant of a symbol.
func (e *Expression) variable(s *symbol) operand {
	switch {
	case s.constant.kind == scalarOperand:
		return s.constant
	case s.variable == nil && s.function != nil && e.overloaded(s):
		panic(e.failure(errorf("Several functions have the name %s: the console does not choose one; \"clew debug --gdb\" does.", s.name)))
	case s.variable == nil && s.function == nil && s.code:
		return operand{kind: memoryOperand, typ: e.untypedFunction(), form: form{kind: value.Func, size: 1}, bits: s.address}
	case s.variable == nil && s.function == nil:
		return operand{kind: symbolOperand, bits: s.address, name: s.name}
	case e.dry && s.variable != nil:
		return operand{kind: memoryOperand, typ: s.variable.Type, form: s.form}
	case e.dry:
		return operand{kind: memoryOperand, typ: s.function.Type, form: formOf(s.function.Type)}
	}
	frame := e.frame
	if s.object != nil {
		frame = s.object
	}
	if frame == nil {
		panic(e.failure(errNoFrame))
	}
	if s.declared() && s.address == 0 && strings.Contains(s.variable.Name, "::") { // a static member without an object
		return held(s.variable.Type, value.Lost(s.variable.Type, frame))
	}
	if s.declared() && s.address != 0 {
		return operand{kind: memoryOperand, typ: s.variable.Type, form: s.form, bits: s.address}
	}
	if s.function != nil {
		return operand{kind: memoryOperand, typ: s.function.Type, form: formOf(s.function.Type), bits: s.function.Entry + frame.Bias()}
	}
	elsewhere := false
	if s.of != nil {
		if inner := frameOf(frame, s); inner != nil {
			frame = inner
		} else { // only a static variable can be read
			frame, elsewhere = value.Static(frame, frame.Info(), frame.Bias()), true
		}
	}
	if address, ok := s.variable.Address(frame); ok && frame == e.frame {
		return operand{kind: memoryOperand, typ: s.variable.Type, form: s.form, bits: address}
	}
	v := s.variable.Read(frame)
	if _, ok := v.Address(); elsewhere && !ok {
		panic(e.failure(errorf("No frame is currently executing in block %s.", s.of.Name)))
	}
	return e.operandOf(v)
}

// frameOf returns the innermost frame of the function in which a variable was looked up, or nil.
func frameOf(f value.Frame, s *symbol) value.Frame {
	for range maxCallers {
		if f == nil {
			return nil
		}
		if info := f.Info(); info != nil {
			_, lookup := f.ProgramCounter()
			fn, err := info.FunctionAt(lookup - f.Bias())
			if err == nil && fn.Entry == s.of.Entry && fn.Name == s.of.Name {
				return f
			}
		}
		f = f.Caller()
	}
	return nil
}

func (e *Expression) untypedFunction() *value.Type {
	return value.FuncOf(e.basics.int.typ, nil, true)
}

// load reads an operand of a scalar type, which becomes a scalar. Others are not changed.
func (e *Expression) load(o *operand) {
	switch o.kind {
	case memoryOperand:
		if o.form.isScalar() {
			e.loadMemory(o)
		}
	case registerOperand:
		e.loadRegister(o)
	case symbolOperand:
		panic(e.failure(unknownType(o.name)))
	case valueOperand:
		e.loadValue(o)
	}
}

func (e *Expression) loadMemory(o *operand) {
	if e.dry {
		o.kind, o.bits = scalarOperand, 0
		return
	}
	if e.frame == nil {
		panic(e.failure(errNoFrame))
	}
	if o.form.kind == value.Float && o.form.size != 4 && o.form.size != 8 {
		v := value.At(o.typ, o.bits, e.frame)
		f, err := v.Float()
		e.check(err)
		o.wide, _ = v.BigFloat()
		o.kind, o.bits = scalarOperand, math.Float64bits(f)
		return
	}
	b := e.scratch[:o.form.size]
	if err := e.frame.ReadMemory(b, o.bits); err != nil {
		panic(e.failure(&Error{Message: Sentence(&value.MemoryError{Address: o.bits}), Err: err}))
	}
	o.kind, o.bits = scalarOperand, o.form.decode(number.Uint(e.context.Machine.Order, b))
}

// decode returns the bits of a scalar for its bits in memory.
func (f form) decode(bits uint64) uint64 {
	if f.kind == value.Float && f.size == 4 {
		return math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	}
	return f.cut(bits)
}

func (e *Expression) loadValue(o *operand) {
	if o.isReference() {
		e.follow(o)
		e.load(o)
		return
	}
	switch {
	case !o.form.isScalar():
		return
	case e.dry:
		o.bits = 0
	case o.form.kind == value.Float:
		f, err := o.held().Float()
		e.check(err)
		if o.form.size > 8 {
			o.wide, _ = o.held().BigFloat()
		}
		o.bits = math.Float64bits(f)
	case o.form.kind == value.Pointer && o.held().Synthetic():
		panic(e.failure(&Error{Message: "The pointer is to an object that is not in memory: the console only follows it, as in *p and p->x; \"clew debug --gdb\" computes with it.", Err: value.ErrOptimizedOut}))
	default:
		bits, err := o.held().Uint()
		e.check(err)
		o.bits = o.form.cut(bits)
	}
	o.kind, o.value = scalarOperand, nil
}

func (o *operand) isReference() bool {
	return o.form.kind == value.Reference || o.form.kind == value.RvalueReference
}

// follow replaces a reference by its object (C++17 [expr.type]).
func (e *Expression) follow(o *operand) {
	switch {
	case !o.isReference():
	case e.dry:
		elem := o.typ.Strip().Elem()
		*o = operand{kind: memoryOperand, typ: elem, form: formOf(elem)}
	case o.kind == memoryOperand:
		*o = e.operandOf(value.At(o.typ, o.bits, e.frame).Deref())
	case o.kind == valueOperand:
		*o = e.operandOf(o.held().Deref())
	}
}

// rvalue loads an operand and converts arrays and functions to pointers.
func (e *Expression) rvalue(o *operand) {
	e.follow(o)
	switch {
	case o.form.kind == value.Array && o.kind == valueOperand:
		address, ok := o.held().Address()
		if !ok || e.dry {
			panic(e.failure(errorf("evaluation of this expression requires the program to have a function \"malloc\".")))
		}
		*o = e.pointer(o.typ.Strip().Elem(), address) // in another object file
	case o.form.kind == value.Array && o.kind == memoryOperand:
		*o = e.pointer(o.typ.Strip().Elem(), o.bits)
	case o.form.kind == value.Func && o.kind == memoryOperand:
		*o = e.pointer(o.typ, o.bits)
	default:
		e.load(o)
	}
}

// pointer returns a pointer. Its type is made once for each target type.
func (e *Expression) pointer(elem *value.Type, address uint64) operand {
	t := e.pointers[elem]
	if t == nil {
		t = value.PointerTo(elem)
		e.pointers[elem] = t
	}
	return operand{kind: scalarOperand, typ: t, form: formOf(t), bits: address}
}
