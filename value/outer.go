// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// outerNumber returns the value of a variable of a function in which that of the
// evaluator is nested, as the bounds of its arrays can be. It follows the static links
// (DWARF 5 §3.3.8), each of which is the frame base of the function around. Of the frames
// in between nothing else is known: a variable that is in a register there has no value.
//
// ok is unset where the variable is of another function, or of none.
func (e *evaluator) outerNumber(off object.DebugOffset) (n uint64, ok bool, err error) {
	b, frame := e.body, e.frame
	var around, owners []object.DebugOffset
	if err := e.info.locked(func() (err error) {
		if owners, err = e.info.functionsAround(off); err == nil && len(owners) > 0 {
			around, err = e.info.functionsAround(b.root.Offset)
		}
		return err
	}); err != nil || len(owners) == 0 {
		return 0, false, err
	}
	last := slices.Index(around, owners[0])
	if last < 0 {
		return 0, false, nil
	}
	for _, outer := range around[:last+1] {
		base, err := e.staticLink(b, frame)
		if err != nil {
			return 0, true, err
		}
		if err := e.info.locked(func() error {
			b, err = e.info.body(outer)
			return err
		}); err != nil {
			return 0, true, err
		}
		constant := make([]byte, 9)
		constant[0] = byte(cfi.OpConst8u)
		e.info.machine.Order.PutUint64(constant[1:], base)
		b = &body{unit: b.unit, root: b.root, frameBase: attribute{kind: attributeBlock, bytes: constant}}
		frame = Static(e.frame, e.info, e.frame.Bias())
	}
	v, err := e.info.variableBy(off, b)
	if err != nil {
		return 0, true, err
	}
	inner, err := e.within(v.info, v.unit, v.body, frame)
	if err != nil {
		return 0, true, err
	}
	defer inner.release()
	n, err = v.readIn(inner).Uint()
	return n, true, err
}

// staticLink returns the frame base of the function that b is nested in.
func (e *evaluator) staticLink(b *body, frame Frame) (uint64, error) {
	var link attribute
	_ = e.info.locked(func() error { // without an attribute nothing is known
		link = e.info.valueOf(&b.root.DebugEntry, dwarf.AttrStaticLink, b.unit)
		return nil
	})
	inner, err := e.within(e.info, b.unit, b, frame)
	if err != nil {
		return 0, err
	}
	defer inner.release()
	p, err := inner.expression(&link)
	if err == nil && p == nil {
		err = errNotKnown
	}
	if err != nil {
		return 0, err
	}
	v, err := inner.number(p)
	return v.lo, err
}

// functionsAround returns the functions that an entry stands in, the innermost first.
func (i *Info) functionsAround(off object.DebugOffset) ([]object.DebugOffset, error) {
	u := i.unitOf(off)
	if u == nil {
		return nil, nil
	}
	var list []object.DebugOffset
	at := u.first
	for range maxEnclosed {
		children, err := i.children(at)
		if err != nil {
			return nil, err
		}
		k, found := slices.BinarySearchFunc(children, off, func(c object.DebugEntry, off object.DebugOffset) int {
			return cmp.Compare(c.Offset, off)
		})
		if found || k == 0 {
			return list, nil
		}
		if at = children[k-1].Offset; children[k-1].Tag == dwarf.TagSubprogram {
			list = slices.Insert(list, 0, at)
		}
	}
	return list, nil
}
