// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"

	"github.com/clewdev/clew/value/internal/number"
)

// maxGoParameters is more words than a dictionary has types.
const maxGoParameters = 1 << 16

// goInstance returns the type that a type of a generic function's stands for in the
// call that e's frame is of. One function is compiled for all types of one shape
// (go.shape.int), and gets a dictionary with what they are as an argument, .dict, of
// which code that is optimized does not tell where it is: there it is the shape.
func (e *evaluator) goInstance(t *Type) *Type {
	if t == nil || t.goPlace == 0 || e.body == nil || e.body.unit.language != Go {
		return t
	}
	dictionary, ok := e.goDictionary(t)
	if !ok {
		return t
	}
	size := uint64(e.info.machine.AddressSize)
	b, err := e.memory(dictionary+size*uint64(t.goPlace-1), size)
	if err != nil {
		return t
	}
	// The shape stands in the unit with all types, its name in that of the function.
	is := Value{typ: t.Elem(), frame: e.frame}.GoDynamic(number.Uint(e.info.machine.Order, b))
	if is == nil || is.Size() != t.Size() {
		return t
	}
	return is
}

// goDictionary returns the run-time address of the dictionary that a type parameter's
// function was called with.
func (e *evaluator) goDictionary(t *Type) (address uint64, ok bool) {
	var v *Variable
	err := e.info.locked(func() (err error) {
		own := false // the parameter is not one of an inlined call's function
		for c := range e.body.root.children() {
			own = own || c.Offset == t.offset
			if c.Tag == dwarf.TagFormalParameter && v == nil && c.IsText(dwarf.AttrName, ".dict") {
				v, err = e.info.variable(&c.DebugEntry, e.body)
			}
		}
		if !own {
			v = nil
		}
		return err
	})
	if err != nil || v == nil || v.Type.goPlace != 0 {
		return 0, false
	}
	inner, err := e.within(v.info, v.unit, v.body, e.frame)
	if err != nil {
		return 0, false
	}
	defer inner.release()
	address, err = v.readIn(inner).Uint()
	return address, err == nil && address != 0
}
