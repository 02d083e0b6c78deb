// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
)

// Numbers that stand for other columns in mismatch.register.
const (
	numberCFA  = -1
	numberSign = -2 // ABI.SignState
)

// mismatch is a rule that yields a wrong value.
type mismatch struct {
	number int      // numberCFA, numberSign, a preserved register or the return address
	rule   cfi.Rule // what the row says
	delta  int64    // of a wrong CFA with a known distance: the row's less the true one
	at     value    // where a realigned frame saves the register, 0 if it does not
}

// continues reports whether a mismatch is the same defect as one of the previous instruction, although the stack
// pointer has moved.
func (w mismatch) continues(previous *mismatch) bool {
	return w.delta != 0 && w.delta == previous.delta || w.at != 0 && w.at == previous.at && w.rule == previous.rule
}

// compare compares a row with the state before an instruction. It appends the wrong rules to
// list if that is not nil.
func (c *checker) compare(r *row, s *state, pc uint64, list *[]mismatch) (Verdict, Reason) {
	m := c.abi
	if r.returnAddress.Kind == cfi.Undefined {
		return Undecided, Outermost
	}
	verdict, reason := c.compareCFA(r, s, pc, list)
	switch {
	case verdict == Disagree && list == nil, verdict == Undecided:
		return verdict, reason
	}
	for i, column := range m.Preserved {
		var v Verdict
		var why Reason
		rule := r.rules[i]
		// The common cases first.
		switch {
		case rule.Kind == cfi.Unspecified && s.registers[column] == makeValue(entry, int(column), 0):
			continue
		default:
			v, why = c.compareRegister(rule, int(column), makeValue(entry, int(column), 0), s, pc)
		}
		verdict, reason = worse(verdict, reason, v, why)
		if v == Disagree {
			if list == nil {
				return Disagree, NoReason
			}
			*list = append(*list, mismatch{number: int(column), rule: rule, at: s.realigned(makeValue(entry, int(column), 0))})
		}
	}
	v, why := c.compareReturnAddress(r, s, pc)
	if v == Disagree && list != nil {
		w := mismatch{number: m.ReturnAddress, rule: r.returnAddress}
		if c.signsWrongly(r, s, pc) {
			w.number = numberSign
		}
		*list = append(*list, w)
	}
	return worse(verdict, reason, v, why)
}

// worse returns the verdict of two comparisons together.
func worse(a Verdict, why Reason, b Verdict, whyB Reason) (Verdict, Reason) {
	switch {
	case a == Disagree || b == Disagree:
		return Disagree, NoReason
	case a == Undecided:
		return a, why
	}
	return b, whyB
}

// cfaValue returns what the rule of the CFA yields.
func (c *checker) cfaValue(r cfi.Rule, s *state, pc uint64) (value, bool) {
	switch r.Kind {
	case cfi.Register:
		number := c.abi.Number(uint64(r.Register))
		if number == lift.NoRegister {
			return value(unknown), true
		}
		return s.registers[number].add(r.Offset), true
	case cfi.ValExpression:
		return c.expression(r, s, pc, 0)
	}
	return 0, false
}

func (c *checker) compareCFA(r *row, s *state, pc uint64, list *[]mismatch) (Verdict, Reason) {
	m := c.abi
	v, ok := c.cfaValue(r.cfa, s, pc)
	if !ok {
		return Undecided, UnknownRule
	}
	switch {
	case v.kind() == entry && v.argument() == m.SP:
		delta := v.offset() - m.CFAOffset
		if delta == 0 {
			return Agree, NoReason
		}
		if list != nil {
			*list = append(*list, mismatch{number: numberCFA, rule: r.cfa, delta: delta})
		}
	case s.copied && v.plain():
		// The row may describe the copy, as that of libffi's ffi_call_unix64 does.
		return Undecided, UnknownStack
	case v.plain(), v.kind() == entry && m.Kept(v.argument()):
		if list != nil {
			*list = append(*list, mismatch{number: numberCFA, rule: r.cfa})
		}
	default:
		return Undecided, UnknownStack
	}
	return Disagree, NoReason
}

// holds compares a value with the entry value of a register.
func (c *checker) holds(v, want value) (Verdict, Reason) {
	switch {
	case v == want:
		return Agree, NoReason
	case v.kind() == entry, v.kind() == signed, v.notEntry(c.abi):
		return Disagree, NoReason
	}
	return Undecided, UnknownValue
}

// compareRegister compares the rule of a register with the state. The rule is to yield want,
// the entry value of the register.
func (c *checker) compareRegister(r cfi.Rule, number int, want value, s *state, pc uint64) (Verdict, Reason) {
	m := c.abi
	cfa := makeValue(entry, m.SP, m.CFAOffset)
	switch r.Kind {
	case cfi.Unspecified, cfi.SameValue:
		// DWARF 5 §6.4.1: the default rule is the ABI's, and of a register that it does not preserve, the
		// row says nothing.
		if c.none && r.Kind == cfi.Unspecified && number != m.ReturnAddress && number != int(m.Link) {
			return Agree, NoReason
		}
		v, why := c.holds(s.registers[number], want)
		if v == Disagree && c.ignored>>number&1 != 0 {
			return Undecided, Convention
		}
		return v, why
	case cfi.Undefined:
		return Agree, NoReason
	case cfi.Offset:
		return c.saved(s, cfa.add(r.Offset), want)
	case cfi.ValOffset:
		return c.holds(cfa.add(r.Offset), want)
	case cfi.Register:
		return c.holds(c.column(s, uint64(r.Register), pc), want)
	}
	v, ok := c.expression(r, s, pc, cfa)
	switch {
	case !ok:
		return Undecided, UnknownRule
	case r.Kind == cfi.ValExpression:
		return c.holds(v, want)
	}
	return c.saved(s, v, want)
}

// saved compares the content of a slot with the entry value of a register.
func (c *checker) saved(s *state, at, want value) (Verdict, Reason) {
	v, why := c.holds(s.load(at, c.abi), want)
	if v == Agree && s.released(at, c.abi) {
		return Disagree, NoReason
	}
	return v, why
}

func (c *checker) compareReturnAddress(r *row, s *state, pc uint64) (Verdict, Reason) {
	m := c.abi
	number, want := m.ReturnAddress, makeValue(entry, m.ReturnAddress, 0)
	switch {
	case m.Link != lift.NoRegister:
		number, want = int(m.Link), returnAddressOf(r.signed, r.key, m)
	case r.returnAddress.Kind == cfi.Offset && r.returnAddress.Offset == -m.CFAOffset:
		// The common case: nothing has been stored there.
		return c.saved(s, makeValue(entry, m.SP, 0), want)
	}
	return c.compareRegister(r.returnAddress, number, want, s, pc)
}

// returnAddressOf returns the value of the return address in the link register or its slot.
func returnAddressOf(isSigned bool, key int, m *lift.ABI) value {
	if isSigned {
		return makeValue(signed, key, 0)
	}
	return makeValue(entry, int(m.Link), 0)
}

// signsWrongly reports whether the rule of the return address yields it, and the row is only
// wrong about its signature.
func (c *checker) signsWrongly(r *row, s *state, pc uint64) bool {
	_, ok := c.trueSign(r, s, pc)
	return ok
}

// trueSign returns the form in which the rule of the return address yields it.
func (c *checker) trueSign(r *row, s *state, pc uint64) (value, bool) {
	m := c.abi
	if m.Link == lift.NoRegister {
		return 0, false
	}
	for _, want := range returnAddresses(m) {
		if v, _ := c.compareRegister(r.returnAddress, int(m.Link), want, s, pc); v == Agree {
			return want, true
		}
	}
	return 0, false
}
