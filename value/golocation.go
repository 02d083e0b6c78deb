// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/value/internal/entry"
)

// Go's compiler splits a string, a slice, an interface or a small structure into numbers that
// live in separate places. A location list has one piece after the other for those that are
// left (cmd/compile/internal/ssa/debug.go). It does not say where in the variable a piece
// belongs, or which pieces are missing.

// goPart is one piece of a location of Go's compiler.
type goPart struct {
	place []operation // nil if the number is lost
	size  uint64      // bytes; 0 if the location is not a piece
}

// goParts splits a program into its pieces. It returns false for one that Go's compiler
// does not write.
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

// goProgram returns the program with each piece of p where it belongs in the variable. p is
// from a list of Go's compiler. The result is nil if p does not determine the number that a
// piece is.
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

// goNumber is the place of a number in a variable, in bytes.
type goNumber struct{ offset, size uint64 }

// Go's compiler splits only types of a few fields.
const (
	maxGoNumbers = 64
	maxGoTypes   = 1024 // fields and elements, which can be empty
)

// goNumbers returns the numbers that a variable of a type consists of, or false if there are
// too many.
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
		case t.kind == Struct:
			for _, f := range t.Fields() {
				if !add(f.Type, offset+f.Offset, depth+1) {
					return false
				}
			}
		case t.kind == Array:
			n, _ := t.Len()
			for k := range n {
				if !add(t.Elem(), offset+k*(size/n), depth+1) {
					return false
				}
			}
		case t.kind == Complex || t.kind == Int && size > uint64(t.machine.AddressSize):
			list = append(list, goNumber{offset, size / 2}, goNumber{offset + size/2, size / 2})
		default:
			list = append(list, goNumber{offset, size})
		}
		return true
	}
	ok = add(t, 0, 0)
	return list, ok
}

// goPlaced returns the parts in the places of the numbers, with the gaps as parts of their
// own. It returns false if these are not the parts of all numbers. Go 1.22 to 1.24 also write
// pieces for the gaps, but not in the right places (https://go.dev/issue/72053).
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

// goJoined returns a program that consists of parts.
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

// isGoNumber reports whether the places in the list are those of one number of the variable,
// not of the whole variable, which the list does not say. A whole variable of several numbers
// is never in one register. The list of such an argument contains pieces.
func (v *Variable) isGoNumber() bool {
	v.numberOnce.Do(func() {
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

// goPlace reports whether an expression of Go's compiler begins with a register. alone is
// true if the expression is only a register or a place in memory.
func goPlace(expression []byte) (register, alone bool) {
	if len(expression) == 0 {
		return false, true
	}
	operands := expression[1:]
	switch op := cfi.Op(expression[0]); {
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		return true, len(operands) == 0
	case op == cfi.OpCallFrameCFA:
		return false, len(operands) == 0
	case op == cfi.OpFbreg || op == cfi.OpRegx:
		return op == cfi.OpRegx, len(operands) > 0 && leb128.Len(operands) == len(operands)
	}
	return false, false
}
