// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"slices"

	"github.com/clewdev/clew/cfi"
)

// Go's compiler takes a string, a slice, an interface or a small structure apart into
// numbers that live on their own. A location list tells of each of them that is left of a
// variable, one piece after the other (cmd/compile/internal/ssa/debug.go): neither where
// in the variable it belongs, nor which ones are missing.

// goPart is what a location of Go's compiler says of one number.
type goPart struct {
	place []operation // nil where the number is lost
	size  uint64      // bytes; 0 of a location that is no piece
}

// inRegister reports whether the number is in a register.
func (p *goPart) inRegister() bool {
	return len(p.place) > 0 && (p.place[0].Op >= cfi.OpReg0 && p.place[0].Op < cfi.OpBreg0 || p.place[0].Op == cfi.OpRegx)
}

// inMemory reports whether it is in memory.
func (p *goPart) inMemory() bool { return len(p.place) > 0 && !p.inRegister() }

// goParts takes a program apart, false where it is none that Go's compiler writes.
func goParts(p *program) (parts []goPart, ok bool) {
	if p == nil {
		return nil, true
	}
	rest := p.operations
	for k := 0; k < len(rest); {
		switch rest[k].Op {
		case opPiece:
			parts = append(parts, goPart{rest[:k:k], uint64(rest[k].Operands[0])})
			rest, k = rest[k+1:], 0
		case opBitPiece:
			return nil, false
		default:
			k++
		}
	}
	if len(rest) > 0 {
		if len(parts) > 0 {
			return nil, false
		}
		parts = []goPart{{place: rest}}
	}
	return parts, p.malformed == nil
}

// isGo reports whether the location is in a list of Go's compiler.
func (v *Variable) isGo() bool {
	return v.location.kind == attributeList && v.unit != nil && v.unit.goCompiler
}

// goProgram returns the program of the place that a list of Go's compiler means, of which
// p is what it has for the address of an evaluator's frame.
func (v *Variable) goProgram(e *evaluator, p *program) (*program, error) {
	parts, ok := goParts(p)
	if !ok {
		return p, nil
	}
	parts, isChanged, err := v.goReturned(e, parts)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	typ := v.Type
	if v.escape != nil {
		typ = v.escape
	}
	numbers, ok := typ.goNumbers()
	switch {
	case !ok || parts[0].size == 0 && len(numbers) < 2:
	case parts[0].size == 0:
		// The variable as a whole has a place in memory, or this is one of its numbers:
		// that was in a register at some time.
		if isPart, err := e.info.listsRegister(v.unit, v.location.list); isPart || err != nil {
			return nil, err
		}
	default:
		placed, ok := goPlaced(parts, numbers)
		if !ok {
			return nil, nil
		}
		isChanged = isChanged || len(placed) != len(parts)
		parts = placed
	}
	if !isChanged {
		return p, nil
	}
	return e.info.goJoined(parts), nil
}

// goReturned returns the parts of a place, of which those are lost in a frame that were
// in registers when it called, with those for which the list has memory when the call has
// returned: no function gives a register back, and what is needed behind the call was
// put there before it. The list often says so no sooner.
func (v *Variable) goReturned(e *evaluator, parts []goPart) (list []goPart, isChanged bool, err error) {
	pc, lookup := e.frame.ProgramCounter()
	if pc == lookup || len(parts) > 0 && !slices.ContainsFunc(parts, func(p goPart) bool { return !p.inMemory() }) {
		return parts, false, nil
	}
	p, err := e.listed(v.location.list, pc-e.frame.Bias())
	if err != nil {
		return nil, false, err
	}
	returned, ok := goParts(p)
	if !ok || len(returned) != len(parts) && len(parts) > 0 {
		return parts, false, nil
	}
	isNew := len(parts) == 0
	for k, r := range returned {
		if isNew {
			parts = append(parts, goPart{size: r.size})
		}
		if r.inMemory() && !parts[k].inMemory() && r.size == parts[k].size {
			parts[k], isChanged = r, true
		}
	}
	if isNew && !isChanged {
		return nil, false, nil
	}
	return parts, isChanged, nil
}

// goNumber is where in a variable a number is.
type goNumber struct{ offset, size uint64 }

// Go's compiler does not take more apart than a few fields.
const (
	maxGoNumbers = 64
	maxGoTypes   = 1024 // of fields and elements, which may consist of none
)

// goNumbers returns what a variable of a type consists of, false where that are too many.
func (t *Type) goNumbers() (list []goNumber, ok bool) {
	types := 0
	var add func(t *Type, offset uint64, depth int) bool
	add = func(t *Type, offset uint64, depth int) bool {
		t = t.Strip()
		size := t.Size()
		if types++; types > maxGoTypes || depth == maxChain || len(list) == maxGoNumbers {
			return false
		}
		switch {
		case size == 0:
			return true
		case t.kind == Struct:
			for _, f := range t.Fields() {
				if !add(f.Type, offset+f.Offset, depth+1) {
					return false
				}
			}
			return true
		case t.kind == Array:
			n, _ := t.Len()
			for k := range n {
				if !add(t.Elem(), offset+k*(size/n), depth+1) {
					return false
				}
			}
			return true
		case t.kind == Complex:
			list = append(list, goNumber{offset, size / 2}, goNumber{offset + size/2, size / 2})
			return true
		}
		list = append(list, goNumber{offset, size})
		return true
	}
	ok = add(t, 0, 0)
	return list, ok
}

// goPlaced returns the parts where the numbers belong, with what lies between them as
// parts of their own; false where these are not the parts of all of them. Some compilers
// put pieces between them too, of what is not theirs, and not in the right places (Go
// 1.22 to 1.24, https://go.dev/issue/72053).
func goPlaced(parts []goPart, numbers []goNumber) (placed []goPart, ok bool) {
	end := uint64(0)
	for _, p := range parts {
		switch {
		case len(numbers) > 0 && p.size == numbers[0].size:
			n := numbers[0]
			if n.offset < end {
				return nil, false
			} else if n.offset > end {
				placed = append(placed, goPart{size: n.offset - end})
			}
			placed, end, numbers = append(placed, p), n.offset+n.size, numbers[1:]
		case len(p.place) > 0:
			return nil, false
		}
	}
	return placed, len(numbers) == 0
}

// goJoined returns the program of parts.
func (i *Info) goJoined(parts []goPart) *program {
	p := new(program)
	for _, part := range parts {
		p.operations = append(p.operations, part.place...)
		if part.size > 0 {
			p.operations = append(p.operations, operation{Operation: cfi.Operation{Op: opPiece, Operands: [2]int64{int64(part.size)}}})
		}
	}
	p.parameter, p.isParameter = p.asParameter(i.machine)
	p.form = p.asForm()
	return p
}

// listsRegister reports whether all that a location list says of a variable is in one
// register somewhere.
func (i *Info) listsRegister(u *unit, list uint64) (is bool, err error) {
	err = i.locked(func() error {
		for entry, err := range i.entries(u, list) {
			if err != nil {
				return err
			}
			parts, _ := goParts(i.decode(entry.expression, u.referenceWidth()))
			if is = len(parts) == 1 && parts[0].size == 0 && parts[0].inRegister(); is {
				break
			}
		}
		return nil
	})
	return is, err
}
