// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
)

// evaluator evaluates location descriptions (DWARF 5 §2.6). Package cfi decodes their
// operations. Its Evaluator is for the rules of call frame information, whose stack holds plain
// addresses and whose result is an address. Here the stack holds typed values, and the result is
// one or several places.
type evaluator struct {
	info  *Info // of the expression
	unit  *entry.Unit
	body  *body
	frame Frame

	budget *budget
	depth  int // number of evaluators that wait for this one

	stack     []element
	pieces    []Piece // of a composite location
	place     Piece   // of a simple location that is not an address
	placed    bool    // place is valid
	isAddress bool    // an address was pushed or dereferenced since the last piece
	err       error   // sticky, of the program that runs: see fail

	ownBudget budget     // of an outermost evaluator
	buffer    [4]element // for the stack, which is rarely deeper
	readBytes [16]byte   // the result of memory

	request request // the last one: see atCall

	object    uint64 // for DW_OP_push_object_address, if hasObject
	hasObject bool
	container *Value // the object is a member of it, if it is known

	isTransient bool // the results are not used after release: they may use the buffers below
	pieceBuffer [2]Piece
	pieceCount  int
	wordBuffers [2][16]byte
	wordCount   int

	outer *evaluator // waits for this one
	inner *evaluator // for reuse
}

// element is a value on the stack.
type element struct {
	lo, hi uint64 // hi is used only beyond 64 bits
	typ    *Type  // a base type, nil for the generic type
}

// budget bounds the steps of an evaluation and of those that it needs.
type budget struct{ steps int }

// Bounds on an evaluation: those of package cfi, and the nesting of expressions (frame base,
// entry value, DW_OP_call, implicit pointer).
const (
	maxStack  = 64
	maxSteps  = 10000
	maxCalls  = 16
	maxPieces = 1024
)

var (
	// errUnknownInFrame means that a frame does not know a register or an address of a location,
	// so that the value is lost.
	errUnknownInFrame  = fmt.Errorf("%w: not known in this frame", ErrOptimizedOut)
	errNoThreadStorage = refuse("the frame does not know its thread-local storage")
)

// registerError means that the value of a register is not known in a frame.
type registerError struct {
	machine *arch.Machine
	column  uint64
}

func (e *registerError) Error() string {
	return fmt.Sprintf("register %s: %v", e.machine.RegisterName(e.column), errUnknownInFrame)
}

func (e *registerError) Unwrap() error { return errUnknownInFrame }

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrExpression, fmt.Sprintf(format, args...))
}

// evaluators are reused: each variable of each frame needs a few.
var evaluators = sync.Pool{New: func() any { return new(evaluator) }}

// within returns an evaluator for an expression that another one needs. The caller must release
// it. One that is nested too deep runs no program.
func (e *evaluator) within(info *Info, u *entry.Unit, b *body, f Frame) *evaluator {
	inner := e.inner
	if e.inner = nil; inner == nil {
		inner = new(evaluator)
	}
	inner.start(info, u, b, f)
	inner.budget, inner.depth, inner.outer = e.budget, e.depth+1, e
	return inner
}

// newEvaluator returns an evaluator. The caller must release it.
func newEvaluator(info *Info, u *entry.Unit, b *body, f Frame) *evaluator {
	e := evaluators.Get().(*evaluator)
	e.start(info, u, b, f)
	return e
}

func (e *evaluator) start(info *Info, u *entry.Unit, b *body, f Frame) {
	e.info, e.unit, e.body, e.frame = info, u, b, f
	e.budget, e.stack = &e.ownBudget, e.buffer[:0]
}

// release ends the use of an evaluator. Pieces that it returned stay valid, unless it is
// transient.
func (e *evaluator) release() {
	outer := e.outer
	e.reset()
	if outer != nil {
		outer.inner = e
	} else {
		evaluators.Put(e)
	}
}

func (e *evaluator) reset() { *e = evaluator{inner: e.inner} }

// expression returns the program of a location at the frame's address. It returns nil if the
// value is optimized out there.
func (e *evaluator) expression(a *entry.Attribute) (*program, error) {
	_, pc := e.frame.ProgramCounter()
	return e.expressionAt(a, pc-e.frame.Bias())
}

// expressionAt is expression for an address of the file.
func (e *evaluator) expressionAt(a *entry.Attribute, pc uint64) (*program, error) {
	switch a.Kind {
	case entry.AttributeBlock:
		if len(a.Bytes) > 0 {
			return e.program(a.Bytes), nil
		}
		return nil, nil
	case entry.AttributeList:
		return e.listed(a.List, pc)
	case entry.AttributeAbsent:
		return nil, nil
	}
	return nil, fmt.Errorf("%w: location of an unknown form", ErrDebugInfo)
}

// listed returns the program that a location list has for an address of the file, or nil.
func (e *evaluator) listed(list, pc uint64) (p *program, err error) {
	key := listing{e.unit, list, pc}
	if p, ok := cached(e.info, &e.info.listings, key); ok {
		return p, nil
	}
	err = e.info.locked(func() error {
		expression, ok, err := e.info.entries.Listed(e.unit, list, pc)
		if ok && len(expression) > 0 {
			p = e.info.decode(bytes.Clone(expression), e.unit.ReferenceWidth())
		}
		if err == nil && len(expression) <= maxCachedSize {
			cache(e.info, &e.info.listings, key, p)
		}
		return err
	})
	return p, err
}

// locate evaluates a location to the pieces of a value of size bytes. p is nil for a value that
// is optimized out.
func (e *evaluator) locate(p *program, size uint64) ([]Piece, error) {
	if p == nil {
		return e.single(Piece{Kind: OptimizedOut, BitSize: bitsOf(size)}), nil
	}
	if err := e.run(p); err != nil {
		if errors.Is(err, ErrOptimizedOut) {
			return e.single(Piece{Kind: OptimizedOut, BitSize: bitsOf(size)}), nil
		}
		return nil, err
	}
	if len(e.pieces) > 0 {
		return e.pieces, nil
	}
	place := e.simple()
	place.BitSize = bitsOf(size)
	return e.single(place), nil
}

// single returns a slice of one piece.
func (e *evaluator) single(p Piece) []Piece {
	if !e.isTransient || e.pieceCount == len(e.pieceBuffer) {
		return []Piece{p}
	}
	k := e.pieceCount
	e.pieceCount++
	e.pieceBuffer[k] = p
	return e.pieceBuffer[k : k+1 : k+1]
}

// wordBuffer returns a buffer for the bytes of a number.
func (e *evaluator) wordBuffer() []byte {
	if !e.isTransient || e.wordCount == len(e.wordBuffers) {
		return make([]byte, 16)
	}
	e.wordCount++
	return e.wordBuffers[e.wordCount-1][:]
}

// bitsOf returns a size in bits, at most 1<<63.
func bitsOf(size uint64) uint64 {
	if size > 1<<60 {
		return 1 << 63
	}
	return 8 * size
}

// simple returns the simple location since the last piece. DWARF 2 and 3 have no
// DW_OP_stack_value: LLVM then omits it after constants and entry values
// (DwarfExpression::addStackValue), where gdb reads memory at these addresses.
func (e *evaluator) simple() Piece {
	if e.placed {
		p := e.place
		e.place, e.placed = Piece{}, false
		return p
	}
	if len(e.stack) == 0 {
		return Piece{Kind: OptimizedOut}
	}
	top := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	isAddress := e.isAddress
	e.isAddress = false
	if !isAddress && e.unit != nil && e.unit.Bare {
		return Piece{Kind: InBytes, Bytes: e.toBytes(top), number: true}
	}
	return Piece{Kind: InMemory, Address: e.mask(top.lo)}
}

// number runs a program whose result is a number: a bound, the value of a parameter, a frame
// base.
func (e *evaluator) number(p *program) (element, error) {
	if err := e.run(p); err != nil {
		return element{}, err
	}
	if e.placed {
		switch p := e.place; p.Kind {
		case InRegister:
			v, err := e.register(p.Column)
			return element{lo: v}, err
		case InBytes:
			if len(p.Bytes) <= 16 {
				return e.fromBytes(p.Bytes, nil), nil
			}
		}
		return element{}, refuse("a location, expected a number")
	}
	if len(e.stack) == 0 {
		return element{}, refuse("an empty stack at the end, expected a number")
	}
	return e.stack[len(e.stack)-1], nil
}

// run executes a program.
func (e *evaluator) run(p *program) error {
	if e.depth > maxCalls {
		return refuse("expressions are nested deeper than %d", maxCalls)
	}
	e.err = nil
	operations := p.operations
	for k := 0; k < len(operations); {
		if e.budget.steps++; e.budget.steps > maxSteps {
			return refuse("more than %d steps", maxSteps)
		}
		o := &operations[k]
		k++
		switch o.Op {
		case cfi.OpSkip, cfi.OpBra:
			if o.Op == cfi.OpBra {
				if v := e.pop(); e.err != nil {
					return e.err
				} else if v.lo == 0 && v.hi == 0 {
					continue
				}
			}
			target, ok := p.target(o)
			if !ok {
				return refuse("%v at %#x leads to no operation", o.Op, o.Offset)
			}
			k = target
		default:
			if err := e.execute(o, operations[k:]); err != nil {
				return err
			}
		}
	}
	if p.malformed != nil { // and this was reached
		return fmt.Errorf("%w: %w", ErrExpression, p.malformed)
	}
	return nil
}

// fail sets the error of the program that runs, unless it has one. Until the end of the operation
// the elements that pop returns are zero.
func (e *evaluator) fail(err error) element {
	if e.err == nil {
		e.err = err
	}
	return element{}
}

// push pushes an element. It returns the error of the program that runs, like put.
func (e *evaluator) push(v element) error {
	if len(e.stack) == maxStack {
		e.fail(refuse("the stack is deeper than %d", maxStack))
	}
	if e.err != nil {
		return e.err
	}
	if v.typ == nil {
		v.lo, v.hi = e.mask(v.lo), 0
	}
	e.stack = append(e.stack, v)
	return nil
}

// pushAddress pushes an address at which an object may be.
func (e *evaluator) pushAddress(a uint64) error {
	e.isAddress = true
	return e.push(element{lo: a})
}

func (e *evaluator) pop() element {
	if len(e.stack) == 0 {
		return e.fail(refuse("an empty stack, expected a value"))
	}
	v := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	return v
}

// at returns the n-th element below the top.
func (e *evaluator) at(n int) element {
	if n < 0 || n >= len(e.stack) {
		return e.fail(refuse("%d on the stack, expected more than %d", len(e.stack), n))
	}
	return e.stack[len(e.stack)-1-n]
}

// mask cuts a value to the width of the generic type, which is that of an address.
func (e *evaluator) mask(v uint64) uint64 {
	if w := e.info.machine.AddressSize; w < 8 {
		v &= 1<<(8*w) - 1
	}
	return v
}

// register returns the value of a register as an address or a number.
func (e *evaluator) register(column uint64) (uint64, error) {
	if v, ok := e.frame.Register(column); ok {
		return v, nil
	}
	if b, ok := e.frame.RegisterBytes(column); ok {
		return e.fromBytes(number.Low(e.info.machine, b, 8), nil).lo, nil
	}
	if v, ok := e.atJump(column); ok {
		return v.lo, nil
	}
	return 0, &registerError{e.info.machine, column}
}

// memory reads size bytes. They are valid until the next call.
func (e *evaluator) memory(address, size uint64) ([]byte, error) {
	if size > 16 {
		return nil, refuse("dereference of %d bytes", size)
	}
	b := e.readBytes[:size]
	if err := e.frame.ReadMemory(b, address); err != nil {
		return nil, &MemoryError{address, err}
	}
	return b, nil
}
