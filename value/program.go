// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
)

// program is an expression, decoded: the threads of a program have the same few
// evaluated again and again. It is shared between goroutines, and does not change but
// for what calls passed for its parameter last.
type program struct {
	operations []operation
	size       uint64 // of the expression, bytes
	malformed  error  // why there are no more operations

	parameter   parameter
	isParameter bool // parameter is the one that the expression names
	passed      lastPassed

	form form
}

// form is what most locations are that no evaluator needs to run for.
type form uint8

const (
	otherForm    form = iota
	registerForm      // in the register that the parameter names
	frameForm         // at an offset from the frame base, that of the parameter
	entryForm         // the value of a register at the entry: the first operation has it
)

// asForm returns it.
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

// operation is one of an expression.
type operation struct {
	cfi.Operation
	inner *program // of a short entry value, nil for others
}

// maxEntry is how long the expression of an entry value may be that is decoded with the
// one that asks for it, bytes: it is a register, or memory at one.
const maxEntry = 16

// programKey is where the bytes of an expression lie, which do not change, and how
// they are read.
type programKey struct {
	bytes *byte
	size  int
	wide  int
}

// program returns the program of an expression of the evaluator's unit.
func (e *evaluator) program(expression []byte) *program {
	i, wide := e.info, e.unit.ReferenceWidth()
	if len(expression) > maxKeptSize {
		return i.decode(expression, wide)
	}
	key := programKey{unsafe.SliceData(expression), len(expression), wide}
	if p, ok := kept(i, &i.programs, key); ok {
		return p
	}
	return keep(i, &i.programs, key, i.decode(expression, wide))
}

// maxExpression bounds an expression, in bytes.
const maxExpression = 1 << 16

// decode decodes an expression up to where it is malformed.
func (i *Info) decode(expression []byte, wide int) *program {
	p := &program{size: uint64(len(expression))}
	if len(expression) > maxExpression {
		p.malformed = fmt.Errorf("expression of %d bytes", len(expression))
		return p
	}
	p.malformed = p.decode(&cfi.Section{Name: "expression", Data: expression, Machine: i.machine}, wide)
	if p.malformed == nil {
		p.parameter, p.isParameter = p.asParameter(i.machine)
	}
	for k := range p.operations {
		if o := &p.operations[k]; isEntryValue(o.Op) && len(o.Block) <= maxEntry {
			o.inner = i.decode(o.Block, wide)
		}
	}
	p.form = p.asForm()
	return p
}

func (p *program) decode(s *cfi.Section, wide int) error {
	for start := uint64(0); start < p.size; {
		resumed := false
		for o, err := range s.Operations(start, p.size-start) {
			at := start + o.Offset
			if wide != 0 && at < p.size && refersToEntry(cfi.Op(s.Data[at])) {
				c := entry.NewCursor(entry.SectionName("expression"), s.Data, s.Machine.Order)
				c.Off = at + 1
				o = cfi.Operation{Op: cfi.Op(s.Data[at]), Operands: [2]int64{int64(c.Uint(wide))}}
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

// refersToEntry reports whether an operation has an offset in .debug_info as its
// first operand.
func refersToEntry(op cfi.Op) bool {
	switch op {
	case cfi.OpCallRef, cfi.OpImplicitPointer, cfi.OpGNUImplicitPointer, cfi.OpGNUVariableValue:
		return true
	}
	return false
}

// isSmall reports whether every caller may keep it.
func (p *program) isSmall() bool {
	return p == nil || len(p.operations) <= maxSmall && p.size <= maxKeptSize
}

// maxSmall is how many operations there may be in what is kept so.
const maxSmall = 8

func isEntryValue(op cfi.Op) bool { return op == cfi.OpEntryValue || op == cfi.OpGNUEntryValue }

// target returns the index of the operation that a jump leads to; that of the
// end is their number.
func (p *program) target(o *operation) (int, bool) {
	to := o.Offset + o.Size + uint64(o.Operands[0])
	if to == p.size {
		return len(p.operations), true
	}
	for k := range p.operations {
		if p.operations[k].Offset == to {
			return k, true
		}
	}
	return 0, false
}

// listing is a location list as seen from an address.
type listing struct {
	unit     *entry.Unit
	list, pc uint64
}

const (
	maxKept     = 1 << 12 // of what frames at the same addresses ask for again, of each kind
	maxKeptSize = 256     // bytes of an expression
)

// kept returns what was kept in one of an Info's maps.
func kept[K comparable, V any](i *Info, known *map[K]V, key K) (v V, ok bool) {
	i.known.RLock()
	v, ok = (*known)[key]
	i.known.RUnlock()
	return v, ok
}

// keep keeps what was found in one of an Info's maps, and returns it. Frames of many
// threads are at the same addresses: what they need seldom is too much to be kept.
func keep[K comparable, V any](i *Info, known *map[K]V, key K, v V) V {
	i.known.Lock()
	defer i.known.Unlock()
	if len(*known) >= maxKept || *known == nil {
		*known = make(map[K]V)
	}
	(*known)[key] = v
	return v
}
