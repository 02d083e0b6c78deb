// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"sync"

	"github.com/clewdev/clew/cfi"
)

// decoder has room for an expression's operations: the threads of a program have the
// same few expressions evaluated again and again.
type decoder struct {
	section    cfi.Section
	operations []cfi.Operation
}

var decoders = sync.Pool{New: func() any { return &decoder{section: cfi.Section{Name: "expression"}} }}

func (d *decoder) release() {
	if cap(d.operations) > maxStack {
		return
	}
	clear(d.operations)
	d.section.Data, d.operations = nil, d.operations[:0]
	decoders.Put(d)
}

// decode decodes the operations of an expression up to where they are malformed.
func (e *evaluator) decode(d *decoder, expression []byte) error {
	s := &d.section
	s.Data, s.Machine = expression, e.info.machine
	wide := 0 // bytes of a reference into .debug_info that are not cfi's four
	switch {
	case e.unit == nil:
	case e.unit.is64:
		wide = 8
	case e.unit.version == 2 && e.unit.width != 4:
		wide = e.unit.width // as DW_FORM_ref_addr was
	}
	for start := uint64(0); start < uint64(len(expression)); {
		resumed := false
		for o, err := range s.Operations(start, uint64(len(expression))-start) {
			at := start + o.Offset
			if wide != 0 && at < uint64(len(expression)) && refersToEntry(cfi.Op(expression[at])) {
				c := cursor{section: "expression", data: expression, off: at + 1, order: e.info.machine.Order}
				o = cfi.Operation{Op: cfi.Op(expression[at]), Operands: [2]int64{int64(c.uint(wide))}}
				if o.Op == opImplicitPointer || o.Op == opGNUImplicitPointer {
					o.Operands[1] = c.sleb128()
				}
				if c.err != nil {
					return c.err
				}
				o.Offset, o.Size = at, c.off-at
				d.operations = append(d.operations, o)
				start, resumed = c.off, true
				break
			}
			if err != nil {
				return err
			}
			o.Offset = at
			d.operations = append(d.operations, o)
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
	case opCallRef, opImplicitPointer, opGNUImplicitPointer, opGNUVariableValue:
		return true
	}
	return false
}
