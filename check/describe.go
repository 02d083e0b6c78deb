// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/internal/leb128"
)

// finding describes a wrong rule.
func (u *unit) finding(p *part, r *row, s *state, i *instruction, w mismatch) Finding {
	m := u.c.abi
	f := Finding{
		Kind: WrongRegister, Function: p.start, FDE: u.c.fdes[p.fde].FDE,
		Address: i.pc, Last: i.pc, Count: 1, Column: w.number,
	}
	switch w.number {
	case numberCFA:
		f.Kind = WrongCFA
		f.Expected, f.Fix = u.c.trueCFA(s, r.cfa)
		f.Found = u.c.ruleCFA(r.cfa)
		return f
	case numberSign:
		f.Kind, f.Column, f.Register = WrongReturnAddress, m.SignState, "ra_sign_state"
		f.Found = signText(returnAddressOf(r.signed, r.key, m))
		v, _ := u.c.trueSign(r, s, i.pc)
		f.Expected, f.Fix = signText(v), ".cfi_negate_ra_state"
		if v.kind() == signed && r.signed {
			f.Fix = "" // the CIE names the other key
		}
		return f
	case m.ReturnAddress:
		f.Kind = WrongReturnAddress
	}
	f.Column = m.Column(w.number)
	f.Register = u.c.numberName(w.number)
	f.Expected, f.Fix = u.c.trueRegister(s, w.number, w.rule)
	f.unsaved = w.number != m.ReturnAddress && strings.HasPrefix(f.Fix, ".cfi_undefined") && (w.rule.Kind == cfi.Unspecified || w.rule.Kind == cfi.SameValue)
	f.Found = u.c.ruleRegister(w.number, w.rule)
	return f
}

// signText describes the return address in a link register.
func signText(v value) string {
	switch {
	case v.kind() != signed:
		return "return address not signed"
	case v.argument() == lift.KeyB:
		return "return address signed with key B"
	}
	return "return address signed with key A"
}

func (c *checker) numberName(number int) string { return c.columnName(uint32(c.abi.Column(number))) }

func (c *checker) columnName(column uint32) string {
	if number := c.abi.Number(uint64(column)); number < len(c.abi.Names) {
		return c.abi.Names[number]
	}
	return fmt.Sprintf("column %d", column)
}

// trueCFA says where the CFA is, by the register of the table's rule if possible, and returns
// the directive that says so.
func (c *checker) trueCFA(s *state, rule cfi.Rule) (text, fix string) {
	m := c.abi
	candidates := []int{m.SP, m.FP}
	if number := m.Number(uint64(rule.Register)); rule.Kind == cfi.Register && number != lift.NoRegister {
		candidates = slices.Insert(candidates, 0, number)
	}
	for n, column := range candidates {
		v := s.registers[column]
		if v.kind() != entry || v.argument() != m.SP {
			continue
		}
		offset := m.CFAOffset - v.offset()
		text = fmt.Sprintf("CFA = %s%+d", m.Names[column], offset)
		if n == 0 && len(candidates) == 3 {
			return text, fmt.Sprintf(".cfi_def_cfa_offset %d", offset)
		}
		return text, fmt.Sprintf(".cfi_def_cfa %s, %d", m.Names[column], offset)
	}
	switch p, ok := s.cfaLocation(m); {
	case !ok:
	case p.kind == cfi.ValExpression:
		return fmt.Sprintf("CFA = *(%s%+d)", c.columnName(p.column), p.offset), escape(cfi.CFADefCFAExpression, nil, p.expression(c.section.Machine))
	default:
		return fmt.Sprintf("CFA = %s%+d", c.columnName(p.column), p.offset), fmt.Sprintf(".cfi_def_cfa %s, %d", c.columnName(p.column), p.offset)
	}
	return "another CFA", ""
}

// escape returns the directive for an instruction with an expression, which has no directive of its own.
func escape(op cfi.Opcode, column []byte, expression []byte) string {
	text := fmt.Sprintf(".cfi_escape 0x%02x", uint8(op))
	for _, b := range slices.Concat(column, leb128.AppendUint(nil, uint64(len(expression))), expression) {
		text += fmt.Sprintf(", 0x%02x", b)
	}
	return text
}

func (c *checker) ruleCFA(r cfi.Rule) string {
	switch r.Kind {
	case cfi.Register:
		return fmt.Sprintf("CFA = %s%+d", c.columnName(r.Register), r.Offset)
	case cfi.ValExpression:
		return "CFA = an expression"
	}
	return "no CFA"
}

// trueRegister says where the entry value of a register is, and returns the directive that
// says so.
func (c *checker) trueRegister(s *state, number int, rule cfi.Rule) (text, fix string) {
	m := c.abi
	name := c.numberName(number)
	directive := name
	pushed := number == m.ReturnAddress && m.Link == lift.NoRegister
	if pushed {
		directive = fmt.Sprint(m.Column(number))
	}
	want := makeValue(entry, number, 0)
	is := func(v value) bool { return v == want || v.kind() == signed && number == int(m.Link) }
	slot := func() bool {
		for _, e := range s.slots[:s.count] {
			if is(e.content) && e.at.kind() == entry && !s.released(e.at, m) {
				offset := e.at.offset() - m.CFAOffset
				text, fix = fmt.Sprintf("%s at CFA%+d", name, offset), fmt.Sprintf(".cfi_offset %s, %d", directive, offset)
				return true
			}
		}
		return false
	}
	if rule.Kind == cfi.Offset && slot() {
		return text, fix
	}
	if !pushed && is(s.registers[number]) {
		fix = ".cfi_restore " + directive
		if rule.Kind == cfi.Unspecified {
			fix = ".cfi_same_value " + directive
		}
		return name + " unchanged", fix
	}
	if slot() {
		return text, fix
	}
	for other, v := range s.registers[:m.Registers] {
		if is(v) && other != number {
			return fmt.Sprintf("%s in %s", name, m.Names[other]), fmt.Sprintf(".cfi_register %s, %s", directive, m.Names[other])
		}
	}
	if p, ok := s.locationOf(want, number, m); ok && p.kind == cfi.Expression {
		column := leb128.AppendUint(nil, uint64(m.Column(number)))
		return fmt.Sprintf("%s at %s%+d", name, c.columnName(p.column), p.offset), escape(cfi.CFAExpression, column, p.expression(c.section.Machine))
	}
	return name + " lost", ".cfi_undefined " + directive
}

func (c *checker) ruleRegister(number int, r cfi.Rule) string {
	name := c.numberName(number)
	switch r.Kind {
	case cfi.Unspecified, cfi.SameValue:
		return name + " unchanged"
	case cfi.Undefined:
		return name + " lost"
	case cfi.Offset:
		return fmt.Sprintf("%s at CFA%+d", name, r.Offset)
	case cfi.ValOffset:
		return fmt.Sprintf("%s = CFA%+d", name, r.Offset)
	case cfi.Register:
		return fmt.Sprintf("%s in %s", name, c.columnName(r.Register))
	}
	return name + " by an expression"
}

// step describes the state before an instruction.
func (c *checker) step(pc uint64, s *state) Step {
	m := c.abi
	text, _ := c.trueCFA(s, cfi.Rule{})
	st := Step{Address: pc, CFA: strings.TrimPrefix(text, "CFA = ")}
	if st.CFA == text {
		st.CFA = ""
	}
	var saved []string
	for _, column := range m.Preserved {
		if s.registers[column] == makeValue(entry, int(column), 0) {
			continue
		}
		text, _ := c.trueRegister(s, int(column), cfi.Rule{})
		saved = append(saved, text)
	}
	st.Saved = strings.Join(saved, ", ")
	return st
}

// maxPath bounds the instructions of a path that a finding shows: its last ones.
const maxPath = 400

// path returns the instructions from an entry to instruction k, with the state on that path.
func (u *unit) path(k int32) []Step {
	// Backwards to the entry.
	var list []int32
	met := map[int32]bool{}
	for k >= 0 && !met[k] && len(list) < 1<<16 && u.c.spend(1) {
		met[k] = true
		list = append(list, k)
		i := &u.instructions[k]
		if i.state >= 0 && u.states[i.state].valid {
			k = u.states[i.state].from
			continue
		}
		// Straight on from the instruction before, which was decoded before.
		n := k - 1
		if n < 0 || u.instructions[n].pc+uint64(u.instructions[n].Size) != i.pc {
			n = -1
			u.c.spend(len(u.instructions) / bytesPerJob)
			for j := range u.instructions {
				if e := &u.instructions[j]; e.reached && e.pc+uint64(e.Size) == i.pc {
					n = int32(j)
				}
			}
		}
		k = n
	}
	slices.Reverse(list)
	if len(list) == 0 {
		return nil
	}
	// Forwards, with the state of the path. It starts as that before its first instruction.
	var s state
	if i := &u.instructions[list[0]]; i.state >= 0 && u.states[i.state].valid {
		s = u.states[i.state].state
	}
	if u.entersAt(u.instructions[list[0]].pc) {
		s = u.entryState()
	}
	var steps []Step
	for n, k := range list {
		i := &u.instructions[k]
		if len(list)-n <= maxPath && u.c.pathSteps > 0 {
			u.c.pathSteps--
			steps = append(steps, u.c.step(i.pc, &s))
		}
		u.execute(&s, i, int(k)+1)
		if i.Flow == lift.FlowCall || i.Flow == lift.FlowCallIndirect {
			u.called(i, &s)
		}
	}
	return steps
}

// entersAt reports whether an address is that of a function's entry.
func (u *unit) entersAt(pc uint64) bool {
	for i := range u.parts {
		if p := &u.parts[i]; p.entered && p.start == pc {
			return true
		}
	}
	return false
}

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
