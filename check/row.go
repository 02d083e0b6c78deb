// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"math/bits"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
)

// row is a row of a table, with the rules of the registers that the analysis follows.
type row struct {
	start, end    uint64
	cfa           cfi.Rule
	returnAddress cfi.Rule
	rules         []cfi.Rule // of ABI.Preserved
	arguments     int64
	signed        bool // the return address is signed
	key           int
	entry         bool   // the state at the entry of a function
	signedEntry   bool   // that state, but the return address is signed
	watched       uint64 // registers that the rules depend on
	needs         uint64 // registers that the rules name
	dynamic       bool   // they can depend on the address
}

// rows appends the rows of an FDE to dst. Their rules are appended to c.rules.
func (c *checker) rows(dst []row, f *cfi.FDE) []row {
	m := c.abi
	key := lift.KeyA
	if f.CIE.BKey {
		key = lift.KeyB
	}
	for r := range c.interpreter.Rows(f) {
		if !c.spend(1) {
			break
		}
		n := row{
			start: r.Start, end: r.End, cfa: r.CFA, returnAddress: r.Register(f.CIE.ReturnAddress),
			arguments: int64(r.ArgumentsSize & 0xffff), signed: r.Signed, key: key,
		}
		n.entry = n.cfa == cfi.Rule{Kind: cfi.Register, Register: uint32(m.SP), Offset: m.CFAOffset} &&
			(m.Link == lift.NoRegister || n.returnAddress.Kind == cfi.Unspecified || n.returnAddress.Kind == cfi.SameValue)
		first := len(c.rules)
		for range m.Preserved {
			c.rules = append(c.rules, cfi.Rule{})
		}
		n.rules = c.rules[first:len(c.rules):len(c.rules)]
		for i := range r.Registers {
			number := m.Number(uint64(r.Registers[i].Column))
			if number >= m.Registers || !m.Preserves(number) {
				continue
			}
			rule := r.Registers[i].Rule
			n.rules[bits.OnesCount64(m.PreservedSet&(1<<number-1))] = rule
			n.entry = n.entry && (rule.Kind == cfi.Unspecified || rule.Kind == cfi.SameValue)
		}
		n.entry, n.signedEntry = n.entry && !n.signed, n.entry && n.signed
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

// watch finds the registers that the rules depend on. A rule for a slot depends on none but the
// stack pointer: whether the slot changes, the state says.
func (r *row) watch(m *lift.ABI) {
	r.watched = 1 << m.SP
	add := func(rule cfi.Rule, itself uint64) {
		switch rule.Kind {
		case cfi.Unspecified, cfi.SameValue:
			r.watched |= itself
		case cfi.Register:
			r.needs |= 1 << (m.Number(uint64(rule.Register)) & 63)
		case cfi.Expression, cfi.ValExpression:
			r.needs = ^uint64(0)
			r.dynamic = true
		}
	}
	add(r.cfa, 0)
	link := uint64(0)
	if m.Link != lift.NoRegister {
		link = 1 << m.Link
	}
	add(r.returnAddress, link)
	for i, rule := range r.rules {
		add(rule, 1<<m.Preserved[i])
	}
	r.watched |= r.needs
}
