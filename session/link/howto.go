// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"

	"github.com/clewdev/clew/arch"
)

// howto describes a relocation type: the value that it computes, and the field for the value.
type howto struct {
	value value
	field field
}

// value is the formula of a relocation's value. S is the address of the symbol, A the addend, P the
// address of the place, G the address of the symbol's slot in the GOT, GOT the address of the GOT,
// TP(x) the offset of a thread-local variable from the thread pointer, and Page(x) is x without its low
// 12 bits.
type value uint8

const (
	unknownValue       value = iota
	noValue                  // a hint for linkers
	absoluteValue            // S + A
	relativeValue            // S + A - P
	branchValue              // S + A - P, through a stub if S is imported
	pageValue                // Page(S + A) - Page(P)
	sizeValue                // size of the symbol + A
	slotRelative             // G + A - P
	slotPage                 // Page(G) - Page(P)
	slotAddress              // G
	slotFromGOT              // G + A - GOT
	slotFromPage             // G - Page(GOT)
	fromGOT                  // S + A - GOT
	gotRelative              // GOT + A - P
	threadValue              // TP(S + A)
	threadSlotRelative       // G + A - P; the slot has TP(S)
	threadSlotPage           // Page(G) - Page(P); the slot has TP(S)
	threadSlotAddress        // G; the slot has TP(S)
	moduleValue              // offset of S + A in the thread-local variables of the program
	rewriteValue             // replaces a sequence of instructions
)

// operands are the operands of a relocation's value.
type operands struct {
	linker     *linker
	symbol     *symbol
	mapped     bool   // the place is in a mapped section
	addend     uint64 // A
	target     uint64 // S + A
	place      uint64 // P
	slot       uint64 // G
	slotAddend uint64 // A, if it is added to G
}

// of computes the value.
func (v value) of(o *operands) uint64 {
	l := o.linker
	switch v {
	case absoluteValue:
		return o.target
	case relativeValue:
		return o.target - o.place
	case branchValue:
		if o.symbol.stub != 0 {
			return l.stubAddress(o.symbol) + o.addend - o.place
		}
		return o.target - o.place
	case pageValue:
		return page(o.target) - page(o.place)
	case sizeValue:
		return o.symbol.size + o.addend
	case slotRelative, threadSlotRelative:
		return o.slot + o.slotAddend - o.place
	case slotPage, threadSlotPage:
		return page(o.slot) - page(o.place)
	case slotAddress, threadSlotAddress:
		return o.slot
	case slotFromGOT:
		return o.slot + o.slotAddend - l.got.address
	case slotFromPage:
		return o.slot - page(l.got.address)
	case fromGOT:
		return o.target - l.got.address
	case gotRelative:
		return l.got.address + o.addend - o.place
	case threadValue:
		return l.template.offsetOf(o.target, l.base)
	case moduleValue:
		if o.mapped {
			// In a rewritten sequence it is the offset from the thread pointer.
			return l.template.offsetOf(o.target, l.base)
		}
		return o.target - (l.base + l.template.start)
	}
	return 0
}

func page(address uint64) uint64 { return address &^ 0xfff }

// slotUse reports whether a value needs a slot in the GOT, and whether that is a thread-local one.
func (v value) slotUse() (slot, thread bool) {
	switch v {
	case slotRelative, slotPage, slotAddress, slotFromGOT, slotFromPage:
		return true, false
	case threadSlotRelative, threadSlotPage, threadSlotAddress:
		return true, true
	}
	return false, false
}

// slotAddend divides the addend of a relocation with a slot into the addend of the slot's content and
// that of the slot's address. It is G(S + A) on arm64 except for GOTPCREL32 (AAELF64), and G + A on
// amd64.
func (m *machine) slotAddend(h howto, addend int64) (inside, outside int64) {
	if m == &arm64 && h.field != signed32 {
		return addend, 0
	}
	return 0, addend
}

// ofThread reports whether a value is of a thread-local variable.
func (v value) ofThread() bool {
	switch v {
	case threadValue, threadSlotRelative, threadSlotPage, threadSlotAddress, moduleValue, rewriteValue:
		return true
	}
	return false
}

// field is the place of a value: bits of a little-endian word of size bytes.
type field struct {
	size  uint8 // bytes
	low   uint8 // lowest bit
	bits  uint8
	shift uint8 // number of low bits of the value that are dropped
	check check
	form  form
	exact bool // the dropped bits must be 0
}

type check uint8

const (
	wraps check = iota // high bits are dropped
	isSigned
	isUnsigned
	isEither // signed or unsigned
)

type form uint8

const (
	plain form = iota
	adr        // arm64 adr, adrp: two bits at 29, the others at 5
	move       // arm64 movz or movn, by the sign of the value
)

// put writes a value to the field at the start of b. It returns false if the value does not fit.
func (f *field) put(b []byte, v uint64) bool {
	if f.exact && v&(1<<f.shift-1) != 0 {
		return false
	}
	negative := f.form == move && int64(v) < 0
	if negative {
		v = ^v
	}
	low, high := int64(-1)<<(f.bits-1), uint64(1)<<f.bits-1
	x := int64(v) >> f.shift
	if f.check == isUnsigned {
		x = int64(v >> f.shift)
	}
	switch f.check {
	case isSigned:
		if f.bits < 64 && (x < low || x > -(low+1)) {
			return false
		}
	case isUnsigned:
		if uint64(x) > high {
			return false
		}
	case isEither:
		if f.bits < 64 && (x < low || x > int64(high)) {
			return false
		}
	}
	if f.form == adr {
		x = x&3<<29 | x>>2&0x7ffff<<5
		order.PutUint32(b, order.Uint32(b)&^(3<<29|0x7ffff<<5)|uint32(x))
		return true
	}
	mask := high << f.low
	bits := uint64(x) << f.low & mask
	switch f.size {
	case 1:
		b[0] = byte(bits)
	case 2:
		order.PutUint16(b, uint16(bits))
	case 4:
		word := uint64(order.Uint32(b))&^mask | bits
		if f.form == move {
			// Bit 30 is the difference between movn and movz.
			word |= 1 << 30
			if negative {
				word &^= 1 << 30
			}
		}
		order.PutUint32(b, uint32(word))
	case 8:
		order.PutUint64(b, bits)
	}
	return true
}

// machine has the differences between machines.
type machine struct {
	elf      elf.Machine
	howtos   []howto // by relocation type
	name     func(typ uint32) string
	stubSize int
	// stub writes a stub for an address, which jumps to the address in the slot.
	stub func(b []byte, address, slot uint64)
	// branch reports whether a relocation at an offset is in a branch, although its type is not one of
	// branches.
	branch func(typ uint32, data []byte, offset uint64, addend int64) bool
	// rewrite replaces the sequence of instructions at a relocation with rewriteValue. The new sequence
	// has the variable's offset from the thread pointer.
	rewrite func(w *sequence) error
	// callsResolver reports whether the sequence of a relocation type ends with a call of
	// __tls_get_addr, which has the next relocation.
	callsResolver func(typ uint32) bool

	largeCommon  elf.SectionIndex // of common symbols of the large code model, or 0
	skipsMissing bool             // a branch to an undefined weak function continues after itself
}

// howto returns the howto of a relocation type.
func (m *machine) howto(typ uint32) howto {
	if typ < uint32(len(m.howtos)) {
		return m.howtos[typ]
	}
	return howto{}
}

// storage returns the layout of thread-local storage.
func (m *machine) storage() *arch.ThreadStorage {
	return arch.Lookup(m.elf, elf.ELFCLASS64, elf.ELFDATA2LSB).ThreadStorage
}

var machines = []*machine{&amd64, &arm64}
