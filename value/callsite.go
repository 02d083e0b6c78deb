// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"sync/atomic"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// errNoEntryValue is returned if the caller does not know the value of a parameter,
// errLostWithEntry for a value that depends on it.
var (
	errNoEntryValue  = fmt.Errorf("value at the entry of the function: %w", ErrNotFound)
	errLostWithEntry = fmt.Errorf("%w: %w", ErrOptimizedOut, errNoEntryValue)
)

// lostWith returns the error for a value that depends on a parameter whose value at the call
// is not known because of err.
func lostWith(err error) error {
	if err == errNoEntryValue {
		return errLostWithEntry // not allocated: most frames of optimized code need it
	}
	return fmt.Errorf("%w: %w", ErrOptimizedOut, err)
}

// entryValue pushes the value that a register, or memory at the address in one, had when the
// function was called (DWARF 5 §2.5.1.7).
func (e *evaluator) entryValue(o *operation) error {
	inner := o.inner
	if inner == nil {
		inner = e.program(o.Block)
	}
	if !inner.isParameter {
		return refuse("entry value of an expression that is not a register")
	}
	p := &inner.parameter
	v, err := e.atCall(p, &inner.last)
	if err != nil {
		return lostWith(err)
	}
	if v.typ, err = e.baseType(p.typ); err != nil {
		return err
	}
	return e.push(v)
}

// parameterRef pushes the value that the call passes for the parameter at an offset.
func (e *evaluator) parameterRef(off object.DebugOffset) error {
	v, err := e.atCall(&parameter{kind: parameterEntry, entry: off}, new(lastParameter))
	if err != nil {
		return lostWith(err)
	}
	return e.push(element{lo: v.lo})
}

// parameter identifies a parameter of a call in the way that call sites do.
type parameter struct {
	kind   parameterKind
	column uint64
	offset int64 // from the frame base, or from the address in the register
	data   bool  // the value that the parameter points to must be known too
	entry  object.DebugOffset
	typ    uint64 // offset in the unit of the register's type, or 0
}

type parameterKind uint8

const (
	parameterRegister parameterKind = iota
	parameterStack                  // at an offset from the frame base
	parameterMemory                 // in memory at the address in a register
	parameterEntry                  // DW_AT_call_parameter
)

// parameterOf returns the parameter of an expression that is a register, memory at the
// address in one, or a place at an offset from the frame base.
func (i *Info) parameterOf(expression []byte) (p parameter, ok bool) {
	program := i.decode(expression, 0)
	return program.parameter, program.isParameter
}

func (p *program) asParameter(m *arch.Machine) (named parameter, ok bool) {
	list := p.operations
	if len(list) == 0 || len(list) > 2 {
		return named, false
	}
	switch op := list[0].Op; {
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		named.column = uint64(op - cfi.OpReg0)
		return named, len(list) == 1
	case op == cfi.OpRegx:
		named.column = uint64(list[0].Operands[0])
		return named, len(list) == 1
	case op == cfi.OpRegvalType || op == cfi.OpGNURegvalType:
		// gcc writes this for floating-point parameters.
		named.column, named.typ = uint64(list[0].Operands[0]), uint64(list[0].Operands[1])
		return named, len(list) == 1
	case op == cfi.OpFbreg && len(list) == 1:
		return parameter{kind: parameterStack, offset: list[0].Operands[0]}, true
	case op >= cfi.OpBreg0 && op < cfi.OpRegx:
		named = parameter{kind: parameterMemory, column: uint64(op - cfi.OpBreg0), offset: list[0].Operands[0]}
		if len(list) == 2 {
			return named, list[1].Op == cfi.OpDeref || list[1].Op == cfi.OpDerefSize
		}
		// A call site names a stack slot as an offset from the stack pointer
		// before the call, which is the CFA of the callee.
		if named.column == uint64(m.StackPointer) {
			return parameter{kind: parameterStack, offset: named.offset}, true
		}
	}
	return named, false
}

// atCall returns the value that the call of the frame's function passed for a parameter. It
// keeps the last one: the location of an argument and its value at the entry often need the
// same one.
func (e *evaluator) atCall(p *parameter, last *lastParameter) (element, error) {
	if a := &e.request; !a.known || *a.parameter != *p {
		a.value, a.err = e.passedFor(p, last)
		a.parameter, a.known = p, e.budget.steps <= maxSteps
	}
	return e.request.value, e.request.err
}

// request is a parameter with its value at the call.
type request struct {
	parameter *parameter // not modified
	value     element
	err       error
	known     bool
}

// passedFor is atCall without the last request. It saves the result in last.
func (e *evaluator) passedFor(p *parameter, last *lastParameter) (v element, err error) {
	caller := e.frame.Caller()
	if caller == nil || e.body == nil {
		return v, errNoEntryValue
	}
	info := caller.Info()
	if f, ok := e.frame.(SelfCaller); info == nil || e.info.callsItself(e.body) || ok && f.CallsItself() {
		return v, errNoEntryValue
	}
	at, err := e.parameterIn(caller, info, p, last)
	if err != nil {
		return v, err
	}
	if at.target == nil && at.value == nil {
		return element{lo: at.constant}, nil
	}
	inner := e.within(info, at.body.unit, at.body, caller)
	defer inner.release()
	if at.target != nil {
		// The indirect call may have called another function that jumped here with
		// parameters of its own.
		target, err := inner.number(at.target)
		if err != nil || target.lo != e.body.entry+e.frame.Bias() {
			return v, errNoEntryValue
		}
		inner.stack, inner.placed = inner.stack[:0], false
	}
	if at.value != nil {
		return inner.number(at.value)
	}
	return element{lo: at.constant}, nil
}

// parameterKey identifies a parameter of a call, seen from the called function.
type parameterKey struct {
	callee       *body
	info         *Info // of the caller
	back, lookup uint64
	parameter    parameter
}

// parameterValue is the caller's debugging information about a parameter. The
// programs belong to the call site.
type parameterValue struct {
	body     *body    // of the caller
	known    bool     // the fields below are valid
	value    *program // nil for a constant
	constant uint64
	target   *program // computes the target of an indirect call; nil for a direct one
}

// lastParameter is the result of the last search for a parameter: most calls of a function
// are like the previous one.
type lastParameter struct{ atomic.Pointer[knownParameter] }

// knownParameter is a parameter of a call with its value. It is not modified.
type knownParameter struct {
	parameterKey
	parameterValue
}

// parameterIn returns the debugging information of a caller about a parameter.
func (e *evaluator) parameterIn(caller Frame, info *Info, p *parameter, last *lastParameter) (*parameterValue, error) {
	bias := caller.Bias()
	back, lookup := caller.ProgramCounter()
	key := parameterKey{e.body, info, back - bias, lookup - bias, *p}
	at := last.Load()
	if at == nil || at.parameterKey != key {
		var err error
		if at, err = e.knownParameter(key); err != nil {
			return nil, err
		}
		last.Store(at)
	}
	if !at.known {
		return nil, errNoEntryValue
	}
	return &at.parameterValue, nil
}

// knownParameter returns a parameter from the cache, or reads it.
func (e *evaluator) knownParameter(key parameterKey) (*knownParameter, error) {
	at, ok := cached(e.info, &e.info.parameters, key)
	if ok {
		return at, nil
	}
	at = &knownParameter{parameterKey: key}
	err := key.info.locked(func() (err error) {
		at.parameterValue, err = key.info.readParameter(key, e)
		return err
	})
	if err == nil {
		at = cache(e.info, &e.info.parameters, key, at)
	}
	return at, err
}

// readParameter reads the value of a parameter. The caller holds the lock.
func (i *Info) readParameter(key parameterKey, e *evaluator) (at parameterValue, err error) {
	if at.body, err = i.bodyAt(key.lookup); err != nil {
		return at, err
	}
	site, p := i.siteOf(at.body, key.back), key.parameter
	if site == nil || !i.calls(site, e) {
		return at, nil
	}
	value := new(siteValue)
	for k := range site.parameters {
		c := &site.parameters[k]
		if !c.is(p) {
			continue
		}
		if p.data && !c.hasData {
			break
		}
		if value = &c.value; p.kind == parameterMemory {
			value = &c.data
		}
		if value.Kind != entry.AttributeAbsent {
			break
		}
	}
	switch value.Kind {
	case entry.AttributeConstant:
		at.known, at.constant = true, uint64(value.Number)
	case entry.AttributeBlock:
		if value.program == nil {
			value.program = i.decode(value.Bytes, at.body.unit.ReferenceWidth())
			i.retained += len(value.program.operations)
		}
		at.known, at.value = true, value.program
	}
	at.target = site.target
	return at, nil
}

// atJump returns the value that a register had when the function jumped to another one instead
// of returning, according to the entry of the jump.
func (e *evaluator) atJump(column uint64) (v element, ok bool) {
	if e.body == nil {
		return v, false
	}
	back, _ := e.frame.ProgramCounter()
	var value entry.Attribute
	err := e.info.locked(func() error {
		site := e.info.siteOf(e.body, back-e.frame.Bias())
		if site == nil || !isTailCall(site.node) {
			return nil
		}
		for k := range site.parameters {
			if c := &site.parameters[k]; c.located && c.place.kind == parameterRegister && c.place.column == column {
				value = c.value.Attribute
			}
		}
		return nil
	})
	if err != nil || value.Kind == entry.AttributeAbsent {
		return v, false
	}
	if value.Kind == entry.AttributeConstant {
		return element{lo: uint64(value.Number)}, true
	}
	inner := e.within(e.info, e.body.unit, e.body, e.frame)
	defer inner.release()
	v, err = inner.number(inner.program(value.Bytes))
	return v, err == nil
}

// isFunction reports whether the entry at an offset is the function b or its declaration.
func (i *Info) isFunction(off object.DebugOffset, b *body) bool {
	target, err := i.entries.Read(off)
	if err != nil {
		return false
	}
	own := &b.root.DebugEntry
	for e := range i.entries.Origins(target) {
		for o := range i.entries.Origins(own) {
			if o.Offset == e.Offset {
				return true
			}
		}
	}
	// A declaration in another unit is the same function if it has the same name. A C library
	// can have a declaration with a linkage name, which the definition has too, while other
	// programs use the source name: glibc's __GI_raise is raise.
	if !entry.IsDeclaration(target) && !isExternal(target) {
		return false
	}
	if linkage := i.entries.LinkageName(target); linkage != "" {
		return linkage == i.symbolName(own)
	}
	name := i.entries.NameOf(target)
	return name != "" && (name == i.symbolName(own) || b.unit.Language == C && name == i.entries.NameOf(own))
}

// callsItself reports whether a function can reach itself through tail calls: then its
// parameters need not be those of the call.
func (i *Info) callsItself(b *body) bool {
	b.selfCallOnce.Do(func() { b.isSelfCaller = i.reachesItself(b) })
	return b.isSelfCaller
}

func (i *Info) reachesItself(b *body) (found bool) {
	err := i.locked(func() error {
		seen := map[*body]bool{b: true}
		for queue := []*body{b}; len(queue) > 0 && !found; queue = queue[1:] {
			found = len(seen) > 256 // too many to follow
			queue[0].root.Find(func(n *node) bool {
				if !isTailCall(n) {
					return false
				}
				off, ok := entry.Origin(&n.DebugEntry)
				if o, isCall := n.Reference(dwarf.AttrCallOrigin); isCall {
					off, ok = o, true
				}
				if !ok || i.isFunction(off, b) { // an unknown target can be b too
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
	return (n.Tag == dwarf.TagCallSite || n.Tag == dw.TagGNUCallSite) && (n.Flag(dwarf.AttrCallTailCall) || n.Flag(dw.AttrGNUTailCall))
}

// definition returns the code of a function in the file, or nil. It finds other units by symbols.
func (i *Info) definition(off object.DebugOffset) *body {
	e, err := i.entries.Read(off)
	if err != nil {
		return nil
	}
	if ranges, err := i.entries.Ranges(e); err == nil && len(ranges) > 0 {
		b, _ := i.body(off)
		return b
	}
	for _, off := range i.entries.FunctionsNamed(i.entries.NameOf(e), i.entries.UnitOf(off)) {
		if b, err := i.body(off); err == nil {
			return b
		}
	}
	if s, ok := i.object.Symbol(i.symbolName(e)); ok {
		using, last := i.entries.Using, i.last
		b, _ := i.bodyAt(s.Address)
		i.entries.Using, i.last = using, last
		return b
	}
	return nil
}
