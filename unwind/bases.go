// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// leadsToBases reports whether rules lead to the caller's address, stack pointer and frame pointer
// from the frame's own, and memory. Most rules with an expression do, such as those of a function
// that has changed stacks. A walk along a trail need not recover the other registers for them.
func leadsToBases(r *Rules, m *arch.Machine) bool {
	if !canBePlain(m) || r.derived || r.SignalFrame || r.Interrupts || !readsBases(r.CFA, r.Section, m) {
		return false
	}
	returns := false
	for i := range r.Registers {
		rule := &r.Registers[i]
		switch column := int(rule.Column); {
		case uint64(rule.Column) == r.ReturnAddress:
			returns = true
			if rule.Kind == cfi.SameValue || rule.Kind == cfi.Register || !readsBases(rule.Rule, r.Section, m) {
				return false
			}
		case column == m.StackPointer || column == m.FramePointer || column == m.ProgramCounter:
			if !readsBases(rule.Rule, r.Section, m) {
				return false
			}
		}
	}
	return returns
}

// readsBases reports whether a rule reads no other registers than the stack pointer and the frame
// pointer.
func readsBases(r cfi.Rule, s *cfi.Section, m *arch.Machine) bool {
	isBase := func(column int64) bool { return column == int64(m.StackPointer) || column == int64(m.FramePointer) }
	switch r.Kind {
	case cfi.Register:
		return isBase(int64(r.Register))
	case cfi.Expression, cfi.ValExpression:
	default:
		return true
	}
	for o, err := range s.Operations(uint64(r.Offset), uint64(r.Register)) {
		switch {
		case err != nil || o.Op == cfi.OpSkip || o.Op == cfi.OpBra:
			return false
		case o.Op >= cfi.OpReg0 && o.Op < cfi.OpBreg0 && !isBase(int64(o.Op-cfi.OpReg0)):
			return false
		case o.Op >= cfi.OpBreg0 && o.Op < cfi.OpRegx && !isBase(int64(o.Op-cfi.OpBreg0)):
			return false
		case (o.Op == cfi.OpRegx || o.Op == cfi.OpBregx) && !isBase(o.Operands[0]):
			return false
		}
	}
	return true
}
