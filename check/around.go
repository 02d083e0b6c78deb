// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"
	"strings"
)

// linesAround is the number of instructions before and after a defect that a finding shows.
const linesAround = 3

// around sets the lines of the findings in a part, which are in the order of their addresses.
func (u *unit) around(p *part, list []Finding) {
	if len(list) == 0 || !u.c.spend(len(p.code)/bytesPerJob) {
		return
	}
	// The numbers of the instructions with findings.
	var at []int
	n := 0
	u.replay(p, func(i *instruction, _ int32, _ *state) {
		for len(at) < len(list) && list[len(at)].Address <= i.pc {
			at = append(at, n)
		}
		n++
	})
	n = 0
	first := 0 // the first finding that can still get lines
	u.replay(p, func(i *instruction, _ int32, s *state) {
		for first < len(at) && at[first]+linesAround < n {
			first++
		}
		for k := first; k < len(at) && at[k]-linesAround <= n && u.c.pathSteps > 0; k++ {
			u.c.pathSteps--
			list[k].Around = append(list[k].Around, u.line(p, i, s, &list[k]))
		}
		n++
	})
}

// line describes the rule of a finding at another instruction.
func (u *unit) line(p *part, i *instruction, s *state, f *Finding) Line {
	c, m := u.c, u.c.abi
	l := Line{Address: i.pc}
	r := &row{}
	if i.row >= 0 {
		r = &p.rows[i.row]
	}
	switch {
	case f.Kind == WrongCFA:
		if i.row >= 0 {
			l.Table = strings.TrimPrefix(c.ruleCFA(r.cfa), "CFA = ")
		}
		if text, fix := c.trueCFA(s, r.cfa); fix != "" {
			l.Code = strings.TrimPrefix(text, "CFA = ")
		}
		return l
	case f.Kind == WrongReturnAddress && f.Column == m.SignState:
		if i.row >= 0 {
			l.Table = signText(returnAddressOf(r.signed, r.key, m))
			if v, ok := c.trueSign(r, s, i.pc); ok {
				l.Code = signText(v)
			}
		}
		return l
	}
	number, rule := m.ReturnAddress, r.returnAddress
	if f.Kind != WrongReturnAddress {
		number = m.Number(uint64(f.Column))
	}
	n := slices.Index(m.Preserved, uint8(number))
	if n >= 0 && i.row >= 0 {
		rule = r.rules[n]
	}
	if i.row >= 0 {
		l.Table = c.ruleRegister(number, rule)
	}
	text, fix := c.trueRegister(s, number, rule)
	if lost := strings.HasPrefix(fix, ".cfi_undefined"); lost && n >= 0 {
		if v, _ := c.holds(s.registers[number], makeValue(entry, number, 0)); v != Disagree {
			return l
		}
	}
	l.Code = text
	return l
}
