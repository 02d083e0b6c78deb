// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
)

// program is a decoded expression. Several goroutines share it: the threads of a program
// evaluate the same few. Only last is modified.
type program struct {
	operations []operation
	size       uint64 // of the expression, bytes
	malformed  error  // why decoding ended early

	parameter   parameter
	isParameter bool          // the expression is the parameter
	last        lastParameter // the parameter in the last call

	form form
}

// form is a common form of a location that is read without running an evaluator.
type form uint8

const (
	otherForm    form = iota
	registerForm      // in the register of the parameter
	frameForm         // at the parameter's offset from the frame base
	entryForm         // the value of a register at the entry: the inner program of the first operation
)

func (p *program) asForm() form {
	list := p.operations
	switch {
	case p.malformed != nil || len(list) == 0:
	case p.isParameter && p.parameter.kind == parameterRegister && (list[0].Op < cfi.OpBreg0 || list[0].Op == cfi.OpRegx):
		return registerForm
	case list[0].Op == cfi.OpFbreg && len(list) == 1:
		return frameForm
	case len(list) == 2 && list[0].inner != nil && list[0].inner.isParameter && list[0].inner.parameter.typ == 0 && list[1].Op == cfi.OpStackValue:
		return entryForm
	}
	return otherForm
}

// operation is an operation of an expression.
type operation struct {
	cfi.Operation
	inner *program // of a short entry value, else nil
}

// maxEntry bounds the expression of an entry value that is decoded together with the outer one,
// in bytes: it is a register, or memory at the address in one.
const maxEntry = 16

// programKey identifies an expression by the address and size of its bytes, which do not change,
// and by the size of references in it.
type programKey struct {
	bytes          *byte
	size           int
	referenceWidth int
}

// program returns the program of an expression of the evaluator's unit.
func (e *evaluator) program(expression []byte) *program {
	i, width := e.info, e.unit.ReferenceWidth()
	if len(expression) > maxCachedSize {
		return i.decode(expression, width)
	}
	key := programKey{unsafe.SliceData(expression), len(expression), width}
	if p, ok := cached(i, &i.programs, key); ok {
		return p
	}
	return cache(i, &i.programs, key, i.decode(expression, width))
}

// maxExpression bounds an expression, in bytes.
const maxExpression = 1 << 16

// decode decodes an expression up to where it is malformed. width is the size of references into
// .debug_info in it, or 0 for that of package cfi.
func (i *Info) decode(expression []byte, width int) *program {
	p := &program{size: uint64(len(expression))}
	if len(expression) > maxExpression {
		p.malformed = fmt.Errorf("expression of %d bytes", len(expression))
		return p
	}
	p.malformed = p.decode(&cfi.Section{Name: "expression", Data: expression, Machine: i.machine}, width)
	if p.malformed == nil {
		p.parameter, p.isParameter = p.asParameter(i.machine)
	}
	for k := range p.operations {
		if o := &p.operations[k]; isEntryValue(o.Op) && len(o.Block) <= maxEntry {
			o.inner = i.decode(o.Block, width)
		}
	}
	p.form = p.asForm()
	return p
}

func (p *program) decode(s *cfi.Section, width int) error {
	for start := uint64(0); start < p.size; {
		resumed := false
		for o, err := range s.Operations(start, p.size-start) {
			at := start + o.Offset
			if width != 0 && at < p.size && refersToEntry(cfi.Op(s.Data[at])) {
				c := entry.NewCursor(entry.SectionName("expression"), s.Data, s.Machine.Order)
				c.Off = at + 1
				o = cfi.Operation{Op: cfi.Op(s.Data[at]), Operands: [2]int64{int64(c.Uint(width))}}
				if o.Op == cfi.OpImplicitPointer || o.Op == cfi.OpGNUImplicitPointer {
					o.Operands[1] = c.SLEB128()
				}
				if c.Err != nil {
					return c.Err
				}
				o.Offset, o.Size = at, c.Off-at
				p.operations = append(p.operations, operation{Operation: o})
				start, resumed = c.Off, true
				break
			}
			if err != nil {
				return err
			}
			o.Offset = at
			p.operations = append(p.operations, operation{Operation: o})
		}
		if !resumed {
			break
		}
	}
	return nil
}

// refersToEntry reports whether the first operand of an operation is an offset in .debug_info.
func refersToEntry(op cfi.Op) bool {
	switch op {
	case cfi.OpCallRef, cfi.OpImplicitPointer, cfi.OpGNUImplicitPointer, cfi.OpGNUVariableValue:
		return true
	}
	return false
}

// isSmall reports whether a program may be cached in each variable that uses it.
func (p *program) isSmall() bool {
	return p == nil || len(p.operations) <= maxSmall && p.size <= maxCachedSize
}

// maxSmall bounds the number of operations in such a program.
const maxSmall = 8

func isEntryValue(op cfi.Op) bool { return op == cfi.OpEntryValue || op == cfi.OpGNUEntryValue }

// target returns the index of the operation that a jump leads to, or the number of operations if
// it leads to the end.
func (p *program) target(o *operation) (int, bool) {
	to := o.Offset + o.Size + uint64(o.Operands[0])
	if to == p.size {
		return len(p.operations), true
	}
	k := slices.IndexFunc(p.operations, func(o operation) bool { return o.Offset == to })
	return max(k, 0), k >= 0
}

// listing identifies a location list and an address.
type listing struct {
	unit     *entry.Unit
	list, pc uint64
}

const (
	maxCached     = 1 << 12 // entries of each cache
	maxCachedSize = 256     // bytes of an expression
)

// cached returns a value from one of an Info's caches.
func cached[K comparable, V any](i *Info, values *map[K]V, key K) (v V, ok bool) {
	i.cacheMu.RLock()
	v, ok = (*values)[key]
	i.cacheMu.RUnlock()
	return v, ok
}

// cache stores a value in one of an Info's caches, and returns it. The frames of many threads are
// at few addresses: a full cache is rare, and is emptied.
func cache[K comparable, V any](i *Info, values *map[K]V, key K, v V) V {
	i.cacheMu.Lock()
	defer i.cacheMu.Unlock()
	if len(*values) >= maxCached || *values == nil {
		*values = make(map[K]V)
	}
	(*values)[key] = v
	return v
}
