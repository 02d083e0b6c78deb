// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "github.com/clewdev/clew/cfi"

// row is a row of a table, with the rules of the registers that the analysis follows.
type row struct {
	start, end    uint64
	cfa           cfi.Rule
	returnAddress cfi.Rule
	rules         []cfi.Rule // of abi.preserved
	arguments     int64
	signed        bool
	entry         bool   // the state at the entry of a function
	watched       uint64 // columns that the rules depend on
	dynamic       bool   // they can depend on the address
}

// rows appends the rows of an FDE to dst. Their rules are appended to c.rules.
func (c *checker) rows(dst []row, f *cfi.FDE) []row {
	m := c.abi
	for r := range c.interpreter.Rows(f) {
		if !c.spend(1) {
			break
		}
		first := len(c.rules)
		for _, column := range m.preserved {
			c.rules = append(c.rules, r.Register(uint64(column)))
		}
		n := row{
			start: r.Start, end: r.End, cfa: r.CFA,
			returnAddress: r.Register(f.CIE.ReturnAddress),
			rules:         c.rules[first:len(c.rules):len(c.rules)],
			arguments:     int64(r.ArgumentsSize & 0xffff), signed: r.Signed,
		}
		n.entry = n.cfa == cfi.Rule{Kind: cfi.Register, Register: uint32(m.sp), Offset: m.cfaOffset} && !n.signed
		for _, rule := range n.rules {
			n.entry = n.entry && (rule.Kind == cfi.Unspecified || rule.Kind == cfi.SameValue)
		}
		n.watch(m)
		dst = append(dst, n)
	}
	return dst
}

// rowAt returns the index of the row at an address, -1 if there is none. The search starts
// at the row with index near.
func rowAt(rows []row, pc uint64, near int) int {
	if near >= 0 && near < len(rows) {
		if r := &rows[near]; pc >= r.start && pc < r.end {
			return near
		}
		if near+1 < len(rows) {
			if r := &rows[near+1]; pc >= r.start && pc < r.end {
				return near + 1
			}
		}
	}
	low, high := 0, len(rows)
	for low < high {
		if middle := (low + high) / 2; rows[middle].end <= pc {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(rows) && pc >= rows[low].start {
		return low
	}
	return -1
}

// watch finds the columns that the rules depend on.
func (r *row) watch(m *abi) {
	r.watched = 1 << m.sp
	if m.link != noRegister {
		r.watched |= 1 << m.link
	}
	add := func(rule cfi.Rule) {
		switch rule.Kind {
		case cfi.Register:
			r.watched |= 1 << (rule.Register & 63)
		case cfi.Expression, cfi.ValExpression:
			r.watched = ^uint64(0)
			r.dynamic = true
		}
	}
	add(r.cfa)
	add(r.returnAddress)
	for i, rule := range r.rules {
		r.watched |= 1 << m.preserved[i]
		add(rule)
	}
}
