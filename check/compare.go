// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "github.com/clewdev/clew/cfi"

// columnCFA stands for the CFA in mismatch.column.
const columnCFA = -1

// mismatch is a rule that yields a wrong value.
type mismatch struct {
	column int      // columnCFA, a preserved register or the return address
	rule   cfi.Rule // what the row says
	delta  int64    // of a wrong CFA with a known distance: the row's less the true one
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
	for i, column := range m.preserved {
		var v Verdict
		var why Reason
		rule := r.rules[i]
		// The common cases first.
		switch {
		case rule.Kind == cfi.Unspecified && s.registers[column] == makeValue(entry, int(column), 0):
			continue
		default:
			v, why = c.compareRegister(rule, int(column), s, pc)
		}
		verdict, reason = worse(verdict, reason, v, why)
		if v == Disagree {
			if list == nil {
				return Disagree, NoReason
			}
			*list = append(*list, mismatch{column: int(column), rule: rule})
		}
	}
	v, why := c.compareReturnAddress(r.returnAddress, s, pc)
	if v == Disagree && list != nil {
		*list = append(*list, mismatch{column: m.returnAddress, rule: r.returnAddress})
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
		if r.Register >= uint32(c.abi.registers) {
			return value(unknown), true
		}
		return s.registers[r.Register].add(r.Offset), true
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
	case v.kind() == entry && v.argument() == m.sp:
		delta := v.offset() - m.cfaOffset
		if delta == 0 {
			return Agree, NoReason
		}
		if list != nil {
			*list = append(*list, mismatch{column: columnCFA, rule: r.cfa, delta: delta})
		}
	case v.plain(), v.kind() == entry && m.kept(v.argument()):
		if list != nil {
			*list = append(*list, mismatch{column: columnCFA, rule: r.cfa})
		}
	default:
		return Undecided, UnknownStack
	}
	return Disagree, NoReason
}

// holds compares a value with the entry value of a column.
func (c *checker) holds(v value, column int) (Verdict, Reason) {
	switch {
	case v == makeValue(entry, column, 0):
		return Agree, NoReason
	case v.kind() == entry, v.notEntry(c.abi):
		return Disagree, NoReason
	}
	return Undecided, UnknownValue
}

// compareRegister compares the rule of a preserved register with the state.
func (c *checker) compareRegister(r cfi.Rule, column int, s *state, pc uint64) (Verdict, Reason) {
	m := c.abi
	cfa := makeValue(entry, m.sp, m.cfaOffset)
	switch r.Kind {
	case cfi.Unspecified, cfi.SameValue:
		v, why := c.holds(s.registers[column], column)
		if v == Disagree && c.ignored>>column&1 != 0 {
			return Undecided, Convention
		}
		return v, why
	case cfi.Undefined:
		return Agree, NoReason
	case cfi.Offset:
		return c.saved(s, cfa.add(r.Offset), column)
	case cfi.ValOffset:
		return c.holds(cfa.add(r.Offset), column)
	case cfi.Register:
		return c.holds(c.column(s, uint64(r.Register), pc), column)
	}
	v, ok := c.expression(r, s, pc, cfa)
	switch {
	case !ok:
		return Undecided, UnknownRule
	case r.Kind == cfi.ValExpression:
		return c.holds(v, column)
	}
	return c.saved(s, v, column)
}

// saved compares the content of a slot with the entry value of a column.
func (c *checker) saved(s *state, at value, column int) (Verdict, Reason) {
	v, why := c.holds(s.load(at, c.abi), column)
	if sp := s.registers[c.abi.sp]; v == Agree && sameBase(sp, at) && at.offset() < sp.offset()-c.abi.redZone {
		return Disagree, NoReason // a signal handler overwrites it
	}
	return v, why
}

func (c *checker) compareReturnAddress(r cfi.Rule, s *state, pc uint64) (Verdict, Reason) {
	m := c.abi
	if r.Kind == cfi.Offset && m.link == noRegister && r.Offset == -m.cfaOffset {
		// The common case: nothing has been stored there.
		return c.saved(s, makeValue(entry, m.sp, 0), m.returnAddress)
	}
	if m.link != noRegister && (r.Kind == cfi.Unspecified || r.Kind == cfi.SameValue) {
		return c.holds(s.registers[m.link], int(m.link))
	}
	column := m.returnAddress
	if m.link != noRegister {
		column = int(m.link)
	}
	return c.compareRegister(r, column, s, pc)
}
