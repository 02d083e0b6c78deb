// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"

	"github.com/clewdev/clew/check/internal/lift"
)

// maxSlots bounds the slots of a state. Functions of compilers save at most 6 registers on
// amd64 and 20 on arm64.
const maxSlots = 28

// damaged is the content of a slot with a saved register of which a part was overwritten.
var damaged = makeValue(unknown, 1, 0)

// slot is a word of the frame.
type slot struct {
	at, content value
}

// state is what the analysis knows before an instruction. A slot that is not listed holds
// nothing that was saved there, unless lost is set.
type state struct {
	registers [lift.MaxRegisters]value
	slots     [maxSlots]slot
	count     int

	// lost says that a value was stored at an unknown place, or that slots were left out.
	lost bool
	// touched says that a slot has changed. It is set and never cleared here.
	touched bool
	// copied says that the return address was stored in memory that is not known to be in the frame.
	copied bool
	// spilled says that the entry value of a preserved register, or the frame pointer, was copied to
	// a place outside of the frame. A value that is loaded from there may be it.
	spilled bool
	// exact says that a register has an exact bound.
	exact bool
	// trust is that of the most certain path that leads here.
	trust trust
	// doubt is the reason why a path was left out that leads here, NoReason if none was.
	doubt Reason
}

// trust is how certain it is that a path exists.
type trust uint8

const (
	sure     trust = iota
	possible       // the code allows it, but may never take it
	guess          // through a jump table whose length or address is a guess
)

// assign makes s a copy of o, without what is not in use: states are large, and copied often.
// The scratch register only lives within an instruction.
func (s *state) assign(o *state, m *lift.ABI) {
	copy(s.registers[:m.Registers], o.registers[:m.Registers])
	copy(s.slots[:o.count], o.slots[:o.count])
	s.count, s.lost, s.touched, s.copied, s.spilled, s.exact, s.trust, s.doubt = o.count, o.lost, o.touched, o.copied, o.spilled, o.exact, o.trust, o.doubt
}

// load returns the content of 8 bytes at an address.
func (s *state) load(at value, m *lift.ABI) value {
	switch at.kind() {
	case entry:
		if at.argument() != m.SP {
			return s.outside()
		}
		if at.offset() >= m.CFAOffset && !s.holds(at) {
			return value(unknown) // the caller's frame: a PLT may have pushed something
		}
	case symbolic:
	case unknown, derived:
		return value(unknown)
	default:
		return s.outside()
	}
	v := s.content(at)
	if v.kind() == constant {
		return makeValue(reloaded, 0, v.offset())
	}
	return v
}

// outside returns the content of 8 bytes outside of the frame.
func (s *state) outside() value {
	if s.spilled {
		return value(unknown)
	}
	return value(other)
}

// spill notes that a register with the value v is copied to a place outside of the frame.
func (s *state) spill(register uint8, v value, m *lift.ABI) {
	if v.kind() != entry || s.spilled {
		return
	}
	if v.offset() == 0 && m.Preserves(v.argument()) || v.argument() == m.SP && int(register) == m.FP {
		s.spilled, s.touched = true, true
	}
}

// minSpilled is the least constant that slots keep: it may be the address of a jump table.
const minSpilled = 1 << 12

// store writes size bytes at an address.
func (s *state) store(at, content value, size int64, m *lift.ABI) {
	if !at.address(m) {
		// Compilers save registers at known places of the frame. Other code keeps copies
		// elsewhere; the analysis then doesn't know what a slot holds.
		if content.kind() == entry && m.Preserves(content.argument()) && !at.unrelated(m) {
			s.lost, s.touched = true, true
		}
		if content == makeValue(entry, m.ReturnAddress, 0) || content.kind() == signed {
			s.copied, s.touched = true, true
		}
		return
	}
	for i := 0; i < s.count; {
		other := s.slots[i].at
		if d := other.offset() - at.offset(); sameBase(other, at) && d < size && d > -8 {
			s.touched = true
			if v := s.slots[i].content; size < 8 && (v == damaged || v.kind() == entry && m.Kept(v.argument())) {
				// Code that saves a register does not write a part of its slot. LLVM unrolls loops over
				// arrays to more elements than they have, and these stores are never executed.
				s.slots[i].content = damaged
				i++
				continue
			}
			s.count--
			s.slots[i] = s.slots[s.count]
			continue
		}
		i++
	}
	if size != 8 {
		return
	}
	// Other values are not followed: code writes variables through pointers, too.
	switch {
	case content.kind() == constant && content.offset() >= minSpilled:
	case content.kind() == unknown, content.kind() == signed:
	case content.kind() == entry && m.Kept(content.argument()):
	case content == makeValue(entry, m.SP, m.CFAOffset):
	default:
		return
	}
	if s.count == maxSlots {
		s.lost, s.touched = true, true
		return
	}
	s.slots[s.count] = slot{at, content}
	s.count++
	s.touched = true
}

// storeUnsized writes an unknown number of bytes at an address.
func (s *state) storeUnsized(at value, m *lift.ABI) {
	if !at.address(m) {
		return
	}
	for i := range s.slots[:s.count] {
		if e := &s.slots[i]; sameBase(e.at, at) && e.at.offset() > at.offset()-8 {
			e.content = value(unknown)
			s.touched = true
		}
	}
}

func sameBase(a, b value) bool { return a.kind() == b.kind() && a.argument() == b.argument() }

// drop forgets slots below the stack pointer: a called function overwrites them.
func (s *state) drop(m *lift.ABI) {
	sp := s.registers[m.SP]
	if !sp.address(m) {
		return
	}
	for i := 0; i < s.count; {
		if at := s.slots[i].at; sameBase(at, sp) && at.offset() < sp.offset() {
			s.count--
			s.slots[i] = s.slots[s.count]
			s.touched = true
			continue
		}
		i++
	}
}

// released reports whether a slot is so far below the stack pointer that a signal handler
// overwrites it.
func (s *state) released(at value, m *lift.ABI) bool {
	sp := s.registers[m.SP]
	return sameBase(sp, at) && at.offset() < sp.offset()-m.RedZone
}

// forget removes a symbol: the instruction that makes it is executed again.
func (s *state) forget(symbol int) {
	is := func(v value) bool { return v.kind() == symbolic && v.argument() == symbol }
	for i, v := range s.registers {
		if is(v) {
			s.registers[i] = value(derived)
		}
	}
	for i := 0; i < s.count; {
		switch e := &s.slots[i]; {
		case is(e.at):
			s.count--
			*e = s.slots[s.count]
			s.lost, s.touched = true, true
		case is(e.content):
			e.content = value(derived)
			i++
		default:
			i++
		}
	}
}

// merge makes s hold what s and o have in common, and reports whether s has changed.
func (s *state) merge(o *state, m *lift.ABI) bool {
	changed := false
	if s.equal(o, m) {
		return false
	}
	for i := range s.registers[:m.Registers] {
		if a, b := s.registers[i], o.registers[i]; a != b {
			if v := join(a, b, m); v != a {
				s.registers[i], changed = v, true
			}
		}
	}
	for i := range s.slots[:s.count] {
		e := &s.slots[i]
		theirs := value(0)
		if i < o.count && o.slots[i].at == e.at { // compilers save registers in one order
			theirs = o.slots[i].content
		} else {
			theirs = o.content(e.at)
		}
		if v := join(e.content, theirs, m); v != e.content {
			e.content, changed = v, true
		}
	}
	for i, e := range o.slots[:o.count] {
		if i < s.count && s.slots[i].at == e.at || s.holds(e.at) {
			continue
		}
		v := join(s.content(e.at), e.content, m)
		switch {
		case v == s.content(e.at):
		case s.count == maxSlots:
			s.lost, changed = true, true
		default:
			s.slots[s.count] = slot{e.at, v}
			s.count++
			changed = true
		}
	}
	if o.lost && !s.lost {
		s.lost, changed = true, true
	}
	if o.copied && !s.copied {
		s.copied, changed = true, true
	}
	if o.spilled && !s.spilled {
		s.spilled, changed = true, true
	}
	if o.trust < s.trust {
		s.trust, changed = o.trust, true
	}
	if s.doubt == NoReason && o.doubt != NoReason {
		s.doubt, changed = o.doubt, true
	}
	return changed
}

// equal reports whether two states are the same, slot by slot in their order.
func (s *state) equal(o *state, m *lift.ABI) bool {
	if s.count != o.count || s.lost != o.lost || s.copied != o.copied || s.spilled != o.spilled || s.trust != o.trust || s.doubt != o.doubt || !slices.Equal(s.registers[:m.Registers], o.registers[:m.Registers]) {
		return false
	}
	for i := range s.slots[:s.count] {
		if s.slots[i] != o.slots[i] {
			return false
		}
	}
	return true
}

// holds reports whether a slot is listed.
func (s *state) holds(at value) bool {
	return slices.ContainsFunc(s.slots[:s.count], func(e slot) bool { return e.at == at })
}

// content returns the content of a slot.
func (s *state) content(at value) value {
	for i := range s.slots[:s.count] {
		if s.slots[i].at == at {
			return s.slots[i].content
		}
	}
	if s.lost {
		return value(unknown)
	}
	return value(derived)
}

// entered reports whether the state is that at the entry of a function, for the registers
// that the caller relies on.
func (s *state) entered(m *lift.ABI) bool {
	if s.registers[m.SP] != makeValue(entry, m.SP, 0) || !s.preserved(m) {
		return false
	}
	if m.Link != lift.NoRegister {
		return s.registers[m.Link] == makeValue(entry, int(m.Link), 0)
	}
	return s.content(makeValue(entry, m.SP, 0)) == makeValue(entry, m.ReturnAddress, 0)
}

// preserved reports whether all preserved registers have their entry values.
func (s *state) preserved(m *lift.ABI) bool {
	for _, c := range m.Preserved {
		if s.registers[c] != makeValue(entry, int(c), 0) {
			return false
		}
	}
	return true
}

// entryState is the state at the entry of a function.
func (u *unit) entryState() state {
	m := u.c.abi
	var s state
	for i := range s.registers {
		s.registers[i] = makeValue(entry, i, 0)
	}
	if m.Link == lift.NoRegister {
		s.slots[0] = slot{makeValue(entry, m.SP, 0), makeValue(entry, m.ReturnAddress, 0)}
		s.count = 1
	}
	return s
}

// conflict reports whether two states cannot both be right before one instruction of
// compilers' code: the depths of the stack differ, or no place has the entry value of a
// preserved register in both.
func (u *unit) conflict(a, b *state) bool {
	m := u.c.abi
	x, y := a.registers[m.SP], b.registers[m.SP]
	if x != y && x.kind() == entry && y.kind() == entry {
		return true
	}
	for _, c := range m.Preserved {
		want := makeValue(entry, int(c), 0)
		x, y := a.registers[c], b.registers[c]
		switch {
		case x == want && y == want, x.kind() == unknown, y.kind() == unknown, a.shares(b, want):
		case x == want, y == want, a.saves(want), b.saves(want):
			return true
		}
	}
	if m.Link == lift.NoRegister {
		return false
	}
	x, y = a.registers[m.Link], b.registers[m.Link]
	if x == y && x.returnAddress(m) || x.kind() == unknown || y.kind() == unknown {
		return false
	}
	some := x.returnAddress(m) || y.returnAddress(m)
	for _, want := range returnAddresses(m) {
		if a.shares(b, want) {
			return false
		}
		some = some || a.saves(want) || b.saves(want)
	}
	return some
}

// returnAddresses are the forms of the return address that a link register has at the entry.
func returnAddresses(m *lift.ABI) [3]value {
	return [...]value{makeValue(entry, int(m.Link), 0), makeValue(signed, lift.KeyA, 0), makeValue(signed, lift.KeyB, 0)}
}

// returns reports whether a function with a link register can still return: the return
// address is in a register or a slot.
func (s *state) returns(m *lift.ABI) bool {
	if s.lost {
		return true
	}
	for _, v := range s.registers[:m.Registers] {
		if v.returnAddress(m) || v.kind() == unknown {
			return true
		}
	}
	for i := range s.slots[:s.count] {
		if v := s.slots[i].content; v.returnAddress(m) || v.kind() == unknown {
			return true
		}
	}
	return false
}

// shares reports whether a slot holds a value in both states.
func (s *state) shares(o *state, v value) bool {
	for i := range s.slots[:s.count] {
		if s.slots[i].content == v {
			if w := o.content(s.slots[i].at); w == v || w.kind() == unknown {
				return true
			}
		}
	}
	return s.lost || o.lost
}

// saves reports whether a slot holds a value.
func (s *state) saves(v value) bool {
	for i := range s.slots[:s.count] {
		if s.slots[i].content == v {
			return true
		}
	}
	return s.lost
}

// realigned returns the address of a realigned frame at which a value is saved, 0 if it is nowhere there.
func (s *state) realigned(v value) value {
	for i := range s.slots[:s.count] {
		if e := &s.slots[i]; e.content == v && e.at.kind() == symbolic {
			return e.at
		}
	}
	return 0
}

// forgetComparisons makes exact bounds upper bounds. Only straight from the comparison to the
// jump is a bound certainly that of the table.
func (s *state) forgetComparisons(m *lift.ABI) {
	if !s.exact {
		return
	}
	s.exact = false
	for i, v := range s.registers[:m.Registers] {
		if v.kind() == other && v.argument() != 0 {
			s.registers[i] = makeValue(other, 0, v.offset())
		}
	}
}
