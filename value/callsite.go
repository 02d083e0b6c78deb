// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// errNoEntryValue says that the caller does not tell what a parameter was.
var errNoEntryValue = fmt.Errorf("value at the entry of the function: %w", ErrNotFound)

// entryValue pushes what a register, or memory that one led to, held when the
// function was called (DWARF 5 §2.5.1.7).
func (e *evaluator) entryValue(block []byte) error {
	p, ok := e.parameterOf(block)
	if !ok {
		return refuse("entry value of an expression that is no register")
	}
	v, err := e.atCall(p)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOptimizedOut, err)
	}
	return e.push(element{lo: v.lo})
}

// parameterRef pushes the value that the call has for a parameter by its entry.
func (e *evaluator) parameterRef(entry uint64) error {
	v, err := e.atCall(parameter{kind: parameterEntry, entry: dwarf.Offset(entry)})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOptimizedOut, err)
	}
	return e.push(element{lo: v.lo})
}

// parameter is how a call site names a parameter.
type parameter struct {
	kind   parameterKind
	column uint64
	offset int64 // from the frame base, or of memory from the register
	data   bool  // what the parameter leads to must be known too
	entry  dwarf.Offset
}

type parameterKind uint8

const (
	parameterRegister parameterKind = iota
	parameterStack                  // at an offset from the frame base
	parameterMemory                 // what the register led to
	parameterEntry                  // DW_AT_call_parameter
)

// parameterOf reads an expression that is a register, memory at one, or a place
// at the frame base.
func (e *evaluator) parameterOf(expression []byte) (p parameter, ok bool) {
	s := &cfi.Section{Name: "expression", Data: expression, Machine: e.info.machine}
	var list []cfi.Operation
	for o, err := range s.Operations(0, uint64(len(expression))) {
		if err != nil || len(list) == 2 {
			return p, false
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return p, false
	}
	switch op := list[0].Op; {
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		p.column = uint64(op - cfi.OpReg0)
		return p, len(list) == 1
	case op == cfi.OpRegx:
		p.column = uint64(list[0].Operands[0])
		return p, len(list) == 1
	case op == opFbreg && len(list) == 1:
		return parameter{kind: parameterStack, offset: list[0].Operands[0]}, true
	case op >= cfi.OpBreg0 && op < cfi.OpRegx:
		p = parameter{kind: parameterMemory, column: uint64(op - cfi.OpBreg0), offset: list[0].Operands[0]}
		if len(list) == 2 {
			return p, list[1].Op == cfi.OpDeref || list[1].Op == cfi.OpDerefSize
		}
		// A call site names a stack slot as an offset from the stack pointer
		// before the call, which is the CFA of the callee.
		if p.column == uint64(e.info.machine.StackPointer) {
			return parameter{kind: parameterStack, offset: p.offset}, true
		}
	}
	return p, false
}

// atCall returns what the call that made the frame passed for a parameter.
func (e *evaluator) atCall(p parameter) (v element, err error) {
	caller := e.frame.Caller()
	if caller == nil || caller.Info() == nil || e.body == nil {
		return v, errNoEntryValue
	}
	if e.info.callsItself(e.body) {
		return v, errNoEntryValue
	}
	info := caller.Info()
	back, lookup := caller.ProgramCounter()
	var body *body
	var value attribute
	err = info.locked(func() error {
		if body, err = info.bodyAt(lookup - caller.Bias()); err != nil {
			return err
		}
		site := body.root.find(func(n *node) bool {
			at, ok := callReturn(n)
			return ok && at == back-caller.Bias()
		})
		if site == nil {
			return errNoEntryValue
		}
		if !info.calls(site, body, e, caller) {
			return errNoEntryValue
		}
		for _, c := range site.children {
			if c.Tag != dwarf.TagCallSiteParameter && c.Tag != tagGNUCallSiteParam {
				continue
			}
			if !e.passes(c, p) {
				continue
			}
			attrs := []dwarf.Attr{dwarf.AttrCallValue, attrGNUCallSiteValue}
			if p.kind == parameterMemory {
				attrs = []dwarf.Attr{dwarf.AttrCallDataValue, attrGNUCallSiteDataValue}
			}
			if p.data && c.AttrField(dwarf.AttrCallDataValue) == nil && c.AttrField(attrGNUCallSiteDataValue) == nil {
				return errNoEntryValue
			}
			for _, a := range attrs {
				if value = info.valueOf(c.Entry, a, body.unit); value.kind != attributeAbsent {
					return nil
				}
			}
		}
		return errNoEntryValue
	})
	if err != nil {
		return v, err
	}
	inner, err := e.within(info, body.unit, body, caller)
	if err != nil {
		return v, err
	}
	switch value.kind {
	case attributeConstant:
		return element{lo: uint64(value.number)}, nil
	case attributeBlock:
		return inner.number(value.bytes)
	}
	return v, errNoEntryValue
}

const attrGNUCallSiteDataValue dwarf.Attr = 0x2112

// callReturn returns the address that a call returns to.
func callReturn(n *node) (uint64, bool) {
	switch n.Tag {
	case dwarf.TagCallSite:
		at, ok := n.Val(dwarf.AttrCallReturnPC).(uint64)
		return at, ok
	case tagGNUCallSite:
		at, ok := n.Val(dwarf.AttrLowpc).(uint64)
		return at, ok
	}
	return 0, false
}

// passes reports whether a parameter of a call site is p.
func (e *evaluator) passes(c *node, p parameter) bool {
	if p.kind == parameterEntry {
		for _, a := range []dwarf.Attr{dwarf.AttrCallParameter, dwarf.AttrAbstractOrigin} {
			if off, ok := c.Val(a).(dwarf.Offset); ok && off == p.entry {
				return true
			}
		}
		return false
	}
	location, _ := c.Val(dwarf.AttrLocation).([]byte)
	if len(location) == 0 {
		return false
	}
	q, ok := e.parameterOf(bytes.Clone(location))
	if p.kind == parameterMemory {
		return ok && q.kind == parameterRegister && q.column == p.column && p.offset == 0
	}
	return ok && p.kind == q.kind && p.column == q.column && p.offset == q.offset
}

// calls reports whether a call site calls the function that e's frame is in: a
// jump at the end of what it calls may have led here instead.
func (i *Info) calls(site *node, b *body, e *evaluator, caller Frame) bool {
	for _, a := range []dwarf.Attr{dwarf.AttrCallOrigin, dwarf.AttrAbstractOrigin} {
		if off, ok := site.Val(a).(dwarf.Offset); ok {
			return i == e.info && i.isFunction(off, e.body)
		}
	}
	// The target of an indirect call is not checked where the call has changed
	// what it depends on.
	return site.AttrField(dwarf.AttrCallTarget) != nil || site.AttrField(attrGNUCallSiteTarget) != nil
}

// isFunction reports whether the entry at an offset is that of a function, or
// its declaration.
func (i *Info) isFunction(off dwarf.Offset, b *body) bool {
	target, err := i.read(off)
	if err != nil {
		return false
	}
	roots := i.origins(b.root.Entry)
	for _, e := range i.origins(target) {
		for _, r := range roots {
			if e.Offset == r.Offset {
				return true
			}
		}
	}
	// A declaration in another unit is the same function by its name.
	name := i.linkageName(target)
	if name == "" {
		name = i.nameOf(target)
	}
	own := i.linkageName(b.root.Entry)
	if own == "" {
		own = i.nameOf(b.root.Entry)
	}
	return name != "" && name == own && (isDeclaration(target) || isExternal(target))
}

// callsItself reports whether a function can reach itself through jumps that
// took the place of calls: its parameters then need not be those of the call.
func (i *Info) callsItself(b *body) (found bool) {
	err := i.locked(func() error {
		seen := map[*body]bool{b: true}
		for queue := []*body{b}; len(queue) > 0 && !found; queue = queue[1:] {
			if len(seen) > 256 {
				found = true // too many to tell
			}
			queue[0].root.find(func(n *node) bool {
				if !isTailCall(n) {
					return false
				}
				off, ok := origin(n.Entry)
				if o, isCall := n.Val(dwarf.AttrCallOrigin).(dwarf.Offset); isCall {
					off, ok = o, true
				}
				if !ok {
					found = true // no one knows where it leads
					return true
				}
				if i.isFunction(off, b) {
					found = true
					return true
				}
				if next := i.definition(off); next != nil && !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
				return false
			})
		}
		return nil
	})
	return found || err != nil
}

func isTailCall(n *node) bool {
	if n.Tag != dwarf.TagCallSite && n.Tag != tagGNUCallSite {
		return false
	}
	for _, a := range []dwarf.Attr{dwarf.AttrCallTailCall, attrGNUTailCall} {
		if tail, _ := n.Val(a).(bool); tail {
			return true
		}
	}
	return false
}

// definition returns the code of a function in its unit, nil where there is none.
func (i *Info) definition(off dwarf.Offset) *body {
	e, err := i.read(off)
	if err != nil {
		return nil
	}
	if ranges, err := i.entryRanges(e); err == nil && len(ranges) > 0 {
		b, _ := i.body(off)
		return b
	}
	u := i.unitOf(off)
	name := i.nameOf(e)
	for _, off := range u.names.functions[name] {
		if b, err := i.body(off); err == nil {
			return b
		}
	}
	return nil
}

// call executes the location of another entry (DWARF 5 §2.5.1.5).
func (e *evaluator) call(entry uint64) error {
	var a attribute
	var u *unit
	err := e.info.locked(func() error {
		d, err := e.info.read(dwarf.Offset(entry))
		if err == nil {
			u = e.info.unitOf(d.Offset)
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
	expression, ok, err := inner.expression(a)
	if err != nil || !ok {
		return err
	}
	inner.stack = e.stack
	err = inner.run(expression)
	e.stack, e.place, e.placed = inner.stack, inner.place, inner.placed
	return err
}

// variableValue pushes the value of another variable (DW_OP_GNU_variable_value).
func (e *evaluator) variableValue(entry uint64) error {
	v, err := e.variableNumber(entry)
	if err != nil {
		return err
	}
	return e.push(element{lo: v})
}

// variableNumber returns the value of the variable at an offset of .debug_info.
func (e *evaluator) variableNumber(entry uint64) (uint64, error) {
	v, err := e.info.variableBy(dwarf.Offset(entry), e.body)
	if err != nil {
		return 0, err
	}
	inner, err := e.within(v.info, v.unit, v.body, e.frame)
	if err != nil {
		return 0, err
	}
	return v.readIn(inner).Uint()
}

// variableBy is variableAt for code that does not hold the lock.
func (i *Info) variableBy(off dwarf.Offset, b *body) (v *Variable, err error) {
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
	return v.readIn(newEvaluator(v.info, v.unit, v.body, f))
}

func (v *Variable) readIn(e *evaluator) Value {
	t := e.resolve(v.Type, 0)
	val := Value{typ: t, frame: e.frame}
	size := t.Size()
	m := v.info.machine
	switch c := v.constant; c.kind {
	case attributeConstant:
		b := make([]byte, min(size, 16))
		putUint(m.Order, b, uint64(c.number))
		if c.number < 0 {
			extendSign(m, b)
		}
		return Constant(t, b, e.frame)
	case attributeBlock:
		return Constant(t, c.bytes, e.frame)
	case attributeText:
		return Constant(t, append([]byte(c.text), 0), e.frame)
	}
	if v.external {
		val.err = fmt.Errorf("%w: %s is declared only", ErrNotFound, v.Name)
		return val
	}
	val.pieces, val.err = e.locate(v.location, size)
	return val
}

// ReadEntry returns the value that an argument had when the function was
// called, as far as the caller tells (DWARF 5 §3.4.2); what gdb calls x@entry.
// The Err of the Value wraps ErrNotFound where nothing is known, which is the
// rule in code that is not optimized.
func (v *Variable) ReadEntry(f Frame) Value {
	val := Value{typ: v.Type, frame: f, err: errNoEntryValue}
	if !v.Argument || v.body == nil || v.constant.kind != attributeAbsent {
		return val
	}
	e := newEvaluator(v.info, v.unit, v.body, f)
	var expression []byte
	switch v.location.kind {
	case attributeBlock:
		expression = v.location.bytes
	case attributeList:
		// The location at the first instruction is where the call passed it.
		b, ok, err := e.listed(v.location.list, v.body.entry)
		if err != nil || !ok {
			return val
		}
		expression = b
	}
	p, ok := e.parameterOf(expression)
	if !ok || p.kind == parameterMemory {
		return val
	}
	if p.kind == parameterStack && v.location.kind == attributeBlock && !e.isStackParameter(p) {
		return val
	}
	// Of a reference gdb wants to know what it led to.
	kind := v.Type.Strip().kind
	p.data = kind == Reference || kind == RvalueReference
	n, err := e.atCall(p)
	if err != nil {
		val.err = err
		return val
	}
	size := v.Type.Size()
	if size > 8 {
		return val
	}
	return Constant(v.Type, bytes.Clone(lowBytes(v.info.machine, e.number8(n), int(size))), f)
}

// isStackParameter reports whether a place lies above the return address.
func (e *evaluator) isStackParameter(p parameter) bool { return p.offset >= 0 }

// number8 returns the low eight bytes of a number.
func (e *evaluator) number8(v element) []byte {
	b := make([]byte, 8)
	putUint(e.info.machine.Order, b, v.lo)
	return b
}

// resolve returns a type with the lengths that its arrays have in the frame.
func (e *evaluator) resolve(t *Type, depth int) *Type {
	if e.budget.steps++; depth == maxChain || e.budget.steps > maxSteps {
		return t
	}
	switch t.kind {
	case Typedef, Const, Volatile, Restrict, Atomic:
		elem := t.Elem()
		if r := e.resolve(elem, depth+1); r != elem {
			return &Type{machine: t.machine, language: t.language, kind: t.kind, name: t.name, elem: r, ready: true}
		}
	case Array:
		elem := t.Elem() // reads the bound too
		r := e.resolve(elem, depth+1)
		if r == elem && t.bound.kind == attributeAbsent {
			return t
		}
		a := &Type{machine: t.machine, language: t.language, kind: Array, elem: r, count: t.count, counted: t.counted,
			lower: t.lower, ready: true, unit: t.unit}
		if t.bound.kind != attributeAbsent {
			if n, err := e.boundOf(t); err == nil && n < 1<<40 {
				a.count, a.counted = n, true
			}
		}
		return a
	}
	return t
}

// boundOf returns the length of an array that the frame tells.
func (e *evaluator) boundOf(t *Type) (n uint64, err error) {
	switch t.bound.kind {
	case attributeEntry:
		n, err = e.variableNumber(t.bound.list)
	default:
		var inner *evaluator
		if inner, err = e.within(e.info, e.unit, e.body, e.frame); err != nil {
			return 0, err
		}
		var v element
		v, err = inner.number(t.bound.bytes)
		n = v.lo
	}
	if t.bounds {
		n = n - uint64(t.lower) + 1
	}
	return n, err
}
