// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
)

// location is where a value is. The zero value is the register that has it at the entry. The other
// kinds are Undefined, Offset from the CFA, Register (of a CFA: plus offset), and, at the
// address in register plus offset, Expression, or ValExpression of a CFA.
type location struct {
	kind   cfi.RuleKind
	column uint32
	offset int64
}

// expression returns the DWARF expression of a location: the address in a register plus an offset, or,
// for a CFA, the word there.
func (p location) expression(m *arch.Machine) []byte {
	e, _ := cfi.AppendOperation(nil, cfi.Operation{Op: cfi.OpBreg0 + cfi.Op(p.column), Operands: [2]int64{p.offset}}, m)
	if p.kind == cfi.ValExpression {
		e, _ = cfi.AppendOperation(e, cfi.Operation{Op: cfi.OpDeref}, m)
	}
	return e
}

// maxPreserved bounds the preserved registers of a machine.
const maxPreserved = 20

// frame is a row of the table.
type frame struct {
	cfa, returnAddress location
	registers          [maxPreserved]location // of ABI.Preserved
	signed             bool
	key                int
}

// entryFrame is the frame at the entry of a function, as in cfi.EntryCIE.
func entryFrame(m *lift.ABI) frame {
	f := frame{cfa: location{cfi.Register, uint32(m.SP), m.CFAOffset}}
	if m.Link == lift.NoRegister {
		f.returnAddress = location{kind: cfi.Offset, offset: -m.CFAOffset}
	}
	return f
}

// rule returns the rule for a location. Its expression becomes part of the section.
func (s *Synthesizer) rule(p location, section *cfi.Section) cfi.Rule {
	switch p.kind {
	case cfi.Register:
		return cfi.Rule{Kind: p.kind, Register: p.column, Offset: p.offset}
	case cfi.Expression, cfi.ValExpression:
		e := p.expression(s.arch)
		at := len(section.Data)
		section.Data = append(section.Data, e...)
		return cfi.Rule{Kind: p.kind, Register: uint32(len(e)), Offset: int64(at)}
	}
	return cfi.Rule{Kind: p.kind, Offset: p.offset}
}

// appendRules appends the rules of a frame's columns, by ascending column.
func (s *Synthesizer) appendRules(dst []cfi.RegisterRule, f *frame, section *cfi.Section) []cfi.RegisterRule {
	m := s.checker.abi
	add := func(number int, p location) {
		if p.kind != cfi.Unspecified {
			dst = append(dst, cfi.RegisterRule{Column: uint32(m.Column(number)), Rule: s.rule(p, section)})
		}
	}
	returns := false
	for i, number := range m.Preserved {
		if !returns && int(number) > m.ReturnAddress {
			add(m.ReturnAddress, f.returnAddress)
			returns = true
		}
		add(int(number), f.registers[i])
	}
	if !returns {
		add(m.ReturnAddress, f.returnAddress)
	}
	return dst
}

// rules returns the number of rules that appendRules appends.
func (f *frame) rules(m *lift.ABI) (n int) {
	for i := range m.Preserved {
		if f.registers[i].kind != cfi.Unspecified {
			n++
		}
	}
	if f.returnAddress.kind != cfi.Unspecified {
		n++
	}
	return n
}

// watched returns the registers that a frame depends on.
func (f *frame) watched(m *lift.ABI) uint64 {
	set := 1<<m.SP | m.PreservedSet
	if m.Link != lift.NoRegister {
		set |= 1 << m.Link
	}
	add := func(p *location) {
		if p.kind == cfi.Register || p.kind == cfi.Expression || p.kind == cfi.ValExpression {
			set |= 1 << m.Number(uint64(p.column))
		}
	}
	add(&f.cfa)
	add(&f.returnAddress)
	for i := range m.Preserved {
		add(&f.registers[i])
	}
	return set
}

// frameOf computes the frame in a state.
func (u *unit) frameOf(s *state, f *frame) Reason {
	m := u.c.abi
	switch {
	case s.trust == guess:
		return Guessed
	case s.doubt != NoReason:
		return s.doubt
	case u.open:
		return OpenJump
	}
	var ok bool
	if f.cfa, ok = s.cfaLocation(m); !ok {
		return UnknownStack
	}
	for i, number := range m.Preserved {
		if f.registers[i], ok = s.locationOf(makeValue(entry, int(number), 0), int(number), m); !ok {
			if s.mayHold(int(number), m) {
				return UnknownValue
			}
			f.registers[i] = location{kind: cfi.Undefined}
		}
	}
	f.signed, f.key = false, 0
	if m.Link == lift.NoRegister {
		f.returnAddress, ok = s.locationOf(makeValue(entry, m.ReturnAddress, 0), lift.NoRegister, m)
	} else {
		f.returnAddress, ok = u.linkLocation(s, f)
	}
	if !ok {
		return UnknownValue
	}
	return NoReason
}

// linkLocation returns where the return address is on a machine with a link register, and sets the
// key that it is signed with.
func (u *unit) linkLocation(s *state, f *frame) (location, bool) {
	m := u.c.abi
	var best location
	found := false
	for _, want := range returnAddresses(m) {
		p, ok := s.locationOf(want, int(m.Link), m)
		if !ok || found && p.kind != cfi.Offset && p.kind != cfi.Expression {
			continue
		}
		best, found = p, true
		f.signed, f.key = want.kind() == signed, 0
		if f.signed {
			f.key = want.argument()
		}
	}
	return best, found
}

// cfaLocation returns where the CFA is: at a known distance from the frame pointer, the stack pointer
// or another register, or saved in a frame that was aligned.
func (s *state) cfaLocation(m *lift.ABI) (location, bool) {
	by := func(number int) (location, bool) {
		v := s.registers[number]
		if v.kind() != entry || v.argument() != m.SP {
			return location{}, false
		}
		return location{cfi.Register, uint32(m.Column(number)), m.CFAOffset - v.offset()}, true
	}
	// A frame pointer is the address at which the caller's is saved.
	if p, ok := by(m.FP); ok && s.content(s.registers[m.FP]) == makeValue(entry, m.FP, 0) {
		return p, true
	}
	for _, number := range [...]int{m.SP, m.FP} {
		if p, ok := by(number); ok {
			return p, true
		}
	}
	for number := range s.registers[:m.Registers] {
		if p, ok := by(number); ok {
			return p, true
		}
	}
	for i := range s.slots[:s.count] {
		if e := &s.slots[i]; e.content == makeValue(entry, m.SP, m.CFAOffset) {
			if p, ok := s.address(e.at, m); ok {
				p.kind = cfi.ValExpression
				return p, true
			}
		}
	}
	return location{}, false
}

// address returns an address of an aligned frame as a register plus an offset.
func (s *state) address(at value, m *lift.ABI) (location, bool) {
	for _, number := range [...]int{m.FP, m.SP} {
		if v := s.registers[number]; at.kind() == symbolic && sameBase(v, at) {
			return location{cfi.Expression, uint32(number), at.offset() - v.offset()}, true
		}
	}
	return location{}, false
}

// locationOf returns where the entry value of a register is: in the frame, in its register or in
// another one. The number is lift.NoRegister for a return address on the stack.
func (s *state) locationOf(want value, number int, m *lift.ABI) (location, bool) {
	var best value
	var saved, below location // below the stack pointer, where signal handlers leave it alone
	for i := range s.slots[:s.count] {
		e := &s.slots[i]
		if e.content != want || s.released(e.at, m) {
			continue
		}
		p := location{kind: cfi.Offset, offset: e.at.offset() - m.CFAOffset}
		if e.at.kind() != entry {
			var ok bool
			if p, ok = s.address(e.at, m); !ok {
				continue
			}
		} else if p.offset%8 != 0 {
			continue // no multiple of the factor
		}
		switch sp := s.registers[m.SP]; {
		case sameBase(sp, e.at) && e.at.offset() < sp.offset():
			below = p
		case saved.kind == cfi.Unspecified || best.offset() < e.at.offset():
			saved, best = p, e.at
		}
	}
	if saved.kind != cfi.Unspecified {
		return saved, true
	}
	if number != lift.NoRegister && s.registers[number] == want {
		return location{}, true
	}
	for other, v := range s.registers[:m.Registers] {
		if v == want && other != m.ReturnAddress {
			return location{kind: cfi.Register, column: uint32(m.Column(other))}, true
		}
	}
	return below, below.kind != cfi.Unspecified
}

// mayHold reports whether a location that is not known may hold the entry value of a register.
func (s *state) mayHold(number int, m *lift.ABI) bool {
	if s.lost || !s.registers[number].notEntry(m) {
		return true
	}
	for i := range s.slots[:s.count] {
		if v := s.slots[i].content; v.kind() == unknown || v == makeValue(entry, number, 0) {
			return true
		}
	}
	return false
}
