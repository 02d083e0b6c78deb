// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
)

// Go's compiler takes a string, a slice, an interface or a small structure apart into
// numbers that live on their own. A location list tells of each of them that is left of a
// variable, one piece after the other (cmd/compile/internal/ssa/debug.go): neither where
// in the variable it belongs, nor which ones are missing.

// goPart is what a location of Go's compiler says of one number.
type goPart struct {
	place []operation // nil where the number is lost
	size  uint64      // bytes; 0 of a location that is not a piece
}

// goParts takes a program apart, false where it is none that Go's compiler writes.
func goParts(p *program) (parts []goPart, ok bool) {
	rest := p.operations
	for k := 0; k < len(rest); {
		switch rest[k].Op {
		case cfi.OpPiece:
			parts = append(parts, goPart{rest[:k:k], uint64(rest[k].Operands[0])})
			rest, k = rest[k+1:], 0
		case cfi.OpBitPiece:
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

// isGoList reports whether the location is in a list of Go's compiler.
func (v *Variable) isGoList() bool {
	return v.location.Kind == entry.AttributeList && v.unit != nil && v.unit.GoCompiler
}

// goProgram returns the program of the place that p means, which a list of Go's compiler
// has for some address; nil where it does not determine which number it is of.
func (v *Variable) goProgram(p *program) *program {
	parts, ok := goParts(p)
	if !ok || len(parts) == 0 {
		return p
	}
	typ := v.Type
	if v.escape != nil {
		typ = v.escape
	}
	numbers, ok := typ.goNumbers()
	switch {
	case !ok:
		return p
	case parts[0].size == 0:
		if len(numbers) > 1 && v.isGoNumber() {
			return nil
		}
		return p
	}
	placed, ok := goPlaced(parts, numbers)
	isLost := !slices.ContainsFunc(placed, func(p goPart) bool { return len(p.place) > 0 })
	switch {
	case !ok || isLost:
		return nil
	case len(placed) == len(parts):
		return p
	}
	return v.info.goJoined(placed)
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
		case t.kind == Complex || t.kind == Int && size > uint64(t.machine.AddressSize):
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
			p.operations = append(p.operations, operation{Operation: cfi.Operation{Op: cfi.OpPiece, Operands: [2]int64{int64(part.size)}}})
		}
	}
	p.parameter, p.isParameter = p.asParameter(i.machine)
	p.form = p.asForm()
	return p
}

// isGoNumber reports whether the places that the list has are those of one number of the
// variable, not of all of it: it does not say so. All of it is never in one register; and
// an argument of which there is more than a number has pieces somewhere, or no list.
func (v *Variable) isGoNumber() bool {
	v.count.Do(func() {
		inMemory := false
		err := v.info.locked(func() error {
			for entry, err := range v.info.entries.Entries(v.unit, v.location.List) {
				if err == nil {
					err = v.info.entries.Spend(1)
				}
				if err != nil {
					return err
				}
				register, alone := goPlace(entry.Expression)
				if v.isNumber = register && alone; v.isNumber || !alone {
					inMemory = false
					return nil
				}
				inMemory = true
			}
			return nil
		})
		v.isNumber = v.isNumber || err == nil && inMemory && v.Argument && !v.inlined
	})
	return v.isNumber
}

// goPlace reports whether an expression of Go's compiler begins with a register, and
// whether that, or the place in memory that it begins with, is all of it.
func goPlace(expression []byte) (register, alone bool) {
	if len(expression) == 0 {
		return false, true
	}
	rest := expression[1:]
	switch op := cfi.Op(expression[0]); {
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		return true, len(rest) == 0
	case op == cfi.OpCallFrameCFA:
		return false, len(rest) == 0
	case op == cfi.OpFbreg || op == cfi.OpRegx:
		for len(rest) > 0 && rest[0] >= 0x80 {
			rest = rest[1:]
		}
		return op == cfi.OpRegx, len(rest) == 1
	}
	return false, false
}
