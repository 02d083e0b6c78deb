// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// frameOf is a TraceState as a frame that rules are evaluated in.
type frameOf struct {
	TraceState
	machine *arch.Machine
}

func (f frameOf) Register(column uint64) (uint64, bool) {
	if int(column) == f.machine.ProgramCounter {
		return f.Registers.PC, true
	}
	return f.Registers.Get(column)
}

func (f frameOf) ReadMemory(p []byte, addr uint64) error { return f.Memory.ReadMemory(p, addr) }

// rules returns the rules at a run-time address, nil if there are none.
func (t *tracer) rules(pc uint64) *unwind.Rules {
	rules, err := t.modules.Rules(pc)
	if err != nil {
		return nil
	}
	return rules
}

// compare compares the innermost frame with the one that its rules give.
func (t *tracer) compare(s TraceState) {
	rules := t.rules(s.Registers.PC)
	if rules == nil {
		t.result.Undecided++
		return
	}
	frame := frameOf{s, t.machine}
	want := &t.frames[len(t.frames)-1]
	agree := true
	differ := func(place uint64, name string, rule cfi.Rule, expected, found uint64, err error) {
		if err != nil || expected != found {
			agree = false
			t.report(s.Registers.PC, place, Mismatch{Register: name, Rule: t.ruleText(rule), Expected: expected, Found: found, Err: err})
		}
	}

	expected := want.sp + uint64(t.machine.CFAOffset)
	cfa, err := rules.FrameAddress(t.machine, frame, &t.evaluator)
	differ(placeCFA, "CFA", rules.CFA, expected, cfa, err)
	if err == nil {
		rule := ruleOf(rules, rules.ReturnAddress)
		v, err := t.recover(rules, rule, rules.ReturnAddress, cfa, frame)
		if rules.Signed {
			v &= 1<<t.machine.AddressBits - 1
		}
		differ(placeReturn, "return address", rule, want.returns, (v+uint64(t.machine.ReturnOffset))&t.machine.CodeMask, err)
		for i, column := range t.saved {
			if !want.known[i] {
				continue
			}
			rule := ruleOf(rules, column)
			v, err := t.recover(rules, rule, column, cfa, frame)
			differ(column, t.machine.RegisterName(column), rule, want.saved[i], v, err)
		}
	}
	if agree {
		t.result.Agree++
	} else {
		t.result.Disagree++
	}
}

func (t *tracer) report(pc, register uint64, m Mismatch) {
	at := place{pc, register}
	if t.seen[at] || len(t.result.Mismatches) >= maxMismatches {
		return
	}
	t.seen[at] = true
	m.PC = pc
	t.result.Mismatches = append(t.result.Mismatches, m)
}

func ruleOf(r *unwind.Rules, column uint64) cfi.Rule {
	for i := range r.Registers {
		if uint64(r.Registers[i].Column) == column {
			return r.Registers[i].Rule
		}
	}
	return cfi.Rule{}
}

var errUndefined = errors.New("the table says that it is lost")

// recover returns the caller's value of a column.
func (t *tracer) recover(r *unwind.Rules, rule cfi.Rule, column, cfa uint64, f frameOf) (uint64, error) {
	at := cfa + uint64(rule.Offset)
	switch rule.Kind {
	case cfi.Undefined:
		return 0, errUndefined
	case cfi.Register:
		column = uint64(rule.Register)
		fallthrough
	case cfi.Unspecified, cfi.SameValue:
		v, ok := f.Register(column)
		if !ok {
			return 0, fmt.Errorf("%s is not known", t.machine.RegisterName(column))
		}
		return v, nil
	case cfi.ValOffset:
		return at, nil
	case cfi.Expression, cfi.ValExpression:
		v, err := t.evaluator.Register(r.Section, rule, cfa, f)
		if err != nil || rule.Kind == cfi.ValExpression {
			return v, err
		}
		at = v
	}
	v, ok := t.word(f.Memory, at, t.machine.RegisterSize)
	if !ok {
		return 0, fmt.Errorf("the memory at %#x cannot be read", at)
	}
	return v, nil
}

// ruleText describes a rule in words.
func (t *tracer) ruleText(r cfi.Rule) string {
	switch r.Kind {
	case cfi.Undefined:
		return "undefined"
	case cfi.SameValue:
		return "same value"
	case cfi.Offset:
		return fmt.Sprintf("saved at CFA%+d", r.Offset)
	case cfi.ValOffset:
		return fmt.Sprintf("CFA%+d", r.Offset)
	case cfi.Register:
		if r.Offset != 0 {
			return fmt.Sprintf("%s%+d", t.machine.RegisterName(uint64(r.Register)), r.Offset)
		}
		return t.machine.RegisterName(uint64(r.Register))
	case cfi.Expression, cfi.ValExpression:
		return "an expression"
	}
	return ""
}
