// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// errNoEntryValue says that the caller does not know what a parameter was, and
// errNoLonger that a value is lost with it.
var (
	errNoEntryValue = fmt.Errorf("value at the entry of the function: %w", ErrNotFound)
	errNoLonger     = fmt.Errorf("%w: %w", ErrOptimizedOut, errNoEntryValue)
)

// lost makes of what atCall said what it means for the value of a variable.
func lost(err error) error {
	if err == errNoEntryValue {
		return errNoLonger // made once: most frames of code that is optimized have it
	}
	return fmt.Errorf("%w: %w", ErrOptimizedOut, err)
}

// entryValue pushes what a register, or memory that one led to, held when the
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
	v, err := e.atCall(p, &inner.passed)
	if err != nil {
		return lost(err)
	}
	if p.typ == 0 {
		return e.push(element{lo: v.lo})
	}
	t, err := e.baseType(p.typ)
	if err != nil {
		return err
	}
	return e.push(element{lo: v.lo, hi: v.hi, typ: t})
}

// parameterRef pushes the value that the call has for a parameter by its entry.
func (e *evaluator) parameterRef(off object.DebugOffset) error {
	v, err := e.atCall(&parameter{kind: parameterEntry, entry: off}, new(lastPassed))
	if err != nil {
		return lost(err)
	}
	return e.push(element{lo: v.lo})
}

// parameter is how a call site names a parameter.
type parameter struct {
	kind   parameterKind
	column uint64
	offset int64 // from the frame base, or of memory from the register
	data   bool  // what the parameter leads to must be known too
	entry  object.DebugOffset
	typ    uint64 // of what the register holds: its offset in the unit, 0 for none
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
func (i *Info) parameterOf(expression []byte) (p parameter, ok bool) {
	decoded := i.decode(expression, 0)
	return decoded.parameter, decoded.isParameter
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
		// As gcc has it for floating-point parameters.
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

// atCall returns what the call that made the frame passed for a parameter: the location
// of an argument, and what it was at the entry, often ask for the same one.
func (e *evaluator) atCall(p *parameter, last *lastPassed) (element, error) {
	if a := &e.asked; !a.known || *a.parameter != *p {
		a.value, a.err = e.passedFor(p, last)
		a.parameter, a.known = p, e.budget.steps <= maxSteps
	}
	return e.asked.value, e.asked.err
}

// asked is a parameter with its value at the call.
type asked struct {
	parameter *parameter // which does not change
	value     element
	err       error
	known     bool
}

// passedFor finds it. The next request for the same parameter uses what was found last.
func (e *evaluator) passedFor(p *parameter, last *lastPassed) (v element, err error) {
	caller := e.frame.Caller()
	if caller == nil || e.body == nil {
		return v, errNoEntryValue
	}
	info := caller.Info()
	if info == nil || e.info.callsItself(e.body) {
		return v, errNoEntryValue
	}
	at, err := e.passing(caller, info, p, last)
	if err != nil {
		return v, err
	}
	if at.to == nil && at.value == nil {
		return element{lo: at.constant}, nil
	}
	inner, err := e.within(info, at.body.unit, at.body, caller)
	if err != nil {
		return v, err
	}
	defer inner.release()
	if at.to != nil {
		// An indirect call can have led to another function, which then jumped here
		// with parameters of its own.
		to, err := inner.number(at.to)
		if err != nil || to.lo != e.body.entry+e.frame.Bias() {
			return v, errNoEntryValue
		}
		inner.stack, inner.placed = inner.stack[:0], false
	}
	if at.value != nil {
		return inner.number(at.value)
	}
	return element{lo: at.constant}, nil
}

// passing is a parameter of a call, as the function that was called asks for it.
type passing struct {
	callee       *body
	info         *Info // of the caller
	back, lookup uint64
	parameter    parameter
}

// passed is what the caller's debugging information says of it. The programs are the
// site's.
type passed struct {
	body     *body    // of the caller
	known    bool     // as to what follows
	value    *program // nil for a constant
	constant uint64
	to       *program // where an indirect call leads to; nil for another
}

// lastPassed is what was found last for one parameter: most calls of a
// function are like the one before.
type lastPassed struct{ atomic.Pointer[knownPassing] }

// knownPassing is a parameter of a call with what is passed. It does not change.
type knownPassing struct {
	passing
	passed
}

// passing returns what a caller's debugging information says of a parameter.
func (e *evaluator) passing(caller Frame, info *Info, p *parameter, last *lastPassed) (*passed, error) {
	bias := caller.Bias()
	back, lookup := caller.ProgramCounter()
	back, lookup = back-bias, lookup-bias
	at := last.Load()
	if at == nil || at.back != back || at.lookup != lookup || at.info != info || at.callee != e.body || at.parameter != *p {
		var err error
		if at, err = e.passed(passing{e.body, info, back, lookup, *p}); err != nil {
			return nil, err
		}
		last.Store(at)
	}
	if !at.known {
		return nil, errNoEntryValue
	}
	return &at.passed, nil
}

// passed finds it.
func (e *evaluator) passed(key passing) (*knownPassing, error) {
	at, ok := kept(e.info, &e.info.passed, key)
	if ok {
		return at, nil
	}
	at = &knownPassing{passing: key}
	err := key.info.locked(func() (err error) {
		at.passed, err = key.info.passedAt(key, e)
		return err
	})
	if err == nil {
		at = keep(e.info, &e.info.passed, key, at)
	}
	return at, err
}

// passedAt reads it, for code that holds the lock.
func (i *Info) passedAt(key passing, e *evaluator) (at passed, err error) {
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
			i.held += len(value.program.operations)
		}
		at.known, at.value = true, value.program
	}
	at.to = site.to
	return at, nil
}

// atJump returns what a register held when the function jumped to another one in the
// place of its return, as the entry of the jump says.
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
	inner, err := e.within(e.info, e.body.unit, e.body, e.frame)
	if err != nil {
		return v, false
	}
	defer inner.release()
	v, err = inner.number(inner.program(value.Bytes))
	return v, err == nil
}

// isFunction reports whether the entry at an offset is that of a function, or
// its declaration.
func (i *Info) isFunction(off object.DebugOffset, b *body) bool {
	target, err := i.entries.Read(off)
	if err != nil {
		return false
	}
	own := &b.root.DebugEntry
	same := make([]object.DebugOffset, 0, entry.MaxOrigins)
	for e := range i.entries.Origins(own) {
		same = append(same, e.Offset)
	}
	for e := range i.entries.Origins(target) {
		if slices.Contains(same, e.Offset) {
			return true
		}
	}
	// A declaration in another unit is the same function by its name. A library of C's
	// own declarations may give it one of its own, which its definition has too, while
	// others call it by that of the source: glibc's __GI_raise is raise.
	if !entry.IsDeclaration(target) && !isExternal(target) {
		return false
	}
	if linkage := i.entries.LinkageName(target); linkage != "" {
		return linkage == i.symbolName(own)
	}
	name := i.entries.NameOf(target)
	if name == "" || name == i.symbolName(own) {
		return name != ""
	}
	return b.unit.Language == C && name == i.entries.NameOf(own)
}

// callsItself reports whether a function can reach itself through jumps that
// took the place of calls: its parameters then need not be those of the call.
func (i *Info) callsItself(b *body) bool {
	b.reach.Do(func() { b.isItself = i.reachesItself(b) })
	return b.isItself
}

func (i *Info) reachesItself(b *body) (found bool) {
	err := i.locked(func() error {
		seen := map[*body]bool{b: true}
		for queue := []*body{b}; len(queue) > 0 && !found; queue = queue[1:] {
			if len(seen) > 256 {
				found = true // too many to follow
			}
			queue[0].root.Find(func(n *node) bool {
				if !isTailCall(n) {
					return false
				}
				off, ok := entry.Origin(&n.DebugEntry)
				if o, isCall := n.Reference(dwarf.AttrCallOrigin); isCall {
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
	if n.Tag != dwarf.TagCallSite && n.Tag != dw.TagGNUCallSite {
		return false
	}
	for _, a := range []dwarf.Attr{dwarf.AttrCallTailCall, dw.AttrGNUTailCall} {
		if n.Flag(a) {
			return true
		}
	}
	return false
}

// definition returns the code of a function in its unit, nil where there is none.
func (i *Info) definition(off object.DebugOffset) *body {
	e, err := i.entries.Read(off)
	if err != nil {
		return nil
	}
	if ranges, err := i.entries.Ranges(e); err == nil && len(ranges) > 0 {
		b, _ := i.body(off)
		return b
	}
	u := i.entries.UnitOf(off)
	for _, off := range i.entries.FunctionsNamed(i.entries.NameOf(e), u) {
		if b, err := i.body(off); err == nil {
			return b
		}
	}
	return nil
}
