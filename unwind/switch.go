// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// maxSwitches is the number of times that one walk may lead in the direction in which the
// stack grows, as from a signal handler on a signal stack, or from the stack of a coroutine.
const maxSwitches = 64

// switches are the places to which the frames of a walk have led in the direction in which
// the stack grows. Every loop of frames contains such a place.
type switches struct {
	n      int
	places [maxSwitches]struct{ pc, sp uint64 }
}

// mayGoDown notes that a frame leads to an address with a lower stack pointer. It ends the
// walk if one has led there before, or if there are too many of them.
func (w *Walker) mayGoDown(pc, sp uint64) bool {
	s := &w.switches
	for i := range s.places[:s.n] {
		if p := &s.places[i]; p.pc == pc && p.sp == sp {
			return w.end(NoProgress, fmt.Errorf("the frame at %#x leads to %#x with stack pointer %#x, where the walk has been before", w.regs.PC, pc, sp))
		}
	}
	if s.n == maxSwitches {
		return w.end(NoProgress, fmt.Errorf("more than %d frames lead back to where the stack grows", maxSwitches))
	}
	s.places[s.n].pc, s.places[s.n].sp = pc, sp
	s.n++
	return true
}

// readsCFA reports whether the rule of a CFA reads it from memory. A function that has
// changed stacks finds its caller's so, and a function that has aligned its stack, whose
// caller is on the same one.
func readsCFA(cfa cfi.Rule, s *cfi.Section) bool {
	if cfa.Kind != cfi.ValExpression {
		return false
	}
	for o, err := range s.Operations(uint64(cfa.Offset), uint64(cfa.Register)) {
		if err == nil && (o.Op == cfi.OpDeref || o.Op == cfi.OpDerefSize) {
			return true
		}
	}
	return false
}

// switchesStack reports whether the current frame's function returns to another stack than
// it runs on.
func (w *Walker) switchesStack() bool {
	m := w.frame.Module
	return m != nil && m.SwitchesStack != nil && m.SwitchesStack(w.frame.LookupPC-m.Bias)
}

// returnedTo returns the rules at the entry of a function to which the previous frame returns,
// although no call precedes it: nil if that is not so. A stack that a program made itself, as
// makecontext does, starts with such a function.
func (w *Walker) returnedTo(module *Module, pc uint64, interrupted bool, err error) *Rules {
	if interrupted || module == nil || module.Source == nil || !errors.Is(err, cfi.ErrNoFDE) || errors.Is(err, ErrMovesStack) {
		return nil
	}
	rules, err := module.Source.Rules(pc - module.Bias)
	if err != nil || rules.CFA.Kind != cfi.Register || int(rules.CFA.Register) != w.Machine.StackPointer || w.callBefore(pc, nil) != noCall {
		return nil
	}
	return rules
}

// isFirst reports whether a function to which a frame returned, with the rules at its entry,
// has no caller.
func (w *Walker) isFirst(r *Rules) bool {
	rule := r.returnRule()
	if rule == nil || rule.Kind != cfi.Offset {
		return true // the link register held the function's own address
	}
	cfa, err := r.FrameAddress(w.Machine, w, &w.eval)
	if err != nil {
		return false
	}
	pc, err := w.read(w.truncate(cfa + uint64(rule.Offset)))
	if err != nil {
		return false
	}
	_, executable := w.module(unsigned(pc))
	return !executable
}
