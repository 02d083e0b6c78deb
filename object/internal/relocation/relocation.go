// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package relocation applies the relocations of data. Those of
// instructions are a linker's.
package relocation

import (
	"encoding/binary"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/leb128"
)

// Operation is the effect of a relocation on the bytes at its place.
type Operation struct {
	act  action
	size uint8 // bytes
}

type action uint8

const (
	unknown       action = iota
	none                 // no effect, or a hint for a linker
	absolute             // S + A
	relative             // S + A - P
	add                  // V + S + A
	subtract             // V - S - A
	set6                 // low six bits: S + A
	subtract6            // low six bits: V - S - A
	setULEB              // ULEB128 of unchanged length: S + A
	addULEB              // V + S + A
	subULEB              // V - S - A
	relative31           // low 31 bits: S + A - P
	relativeAfter        // S + A - P - 8: PA-RISC counts from the instruction after the delay slot
)

// actions are by the names that package arch has for them, without a size in bits.
func actionOf(name string) (a action, sized bool) {
	switch name {
	case "none":
		return none, false
	case "abs":
		return absolute, true
	case "rel":
		return relative, true
	case "after":
		return relativeAfter, true
	case "add":
		return add, true
	case "sub":
		return subtract, true
	case "set6":
		return set6, false
	case "sub6":
		return subtract6, false
	case "setuleb":
		return setULEB, false
	case "adduleb":
		return addULEB, false
	case "subuleb":
		return subULEB, false
	case "rel31":
		return relative31, false
	}
	return unknown, false
}

// Operations returns the relocations of a machine by their type, false for a machine
// whose relocations are not known. The map must not be changed.
func Operations(m *arch.Machine) (known map[uint32]Operation, ok bool) {
	text := m.Relocations
	if text == "" {
		return nil, false
	}
	if known, ok := parsed.Load(text); ok {
		return known.(map[uint32]Operation), true
	}
	known = make(map[uint32]Operation)
	for field := range strings.FieldsSeq(text) {
		typ, name, _ := strings.Cut(field, ":")
		n, err := strconv.ParseUint(typ, 10, 32)
		o := operation(name)
		if err != nil || !o.IsKnown() {
			panic("relocation: invalid description " + field)
		}
		known[uint32(n)] = o
	}
	parsed.Store(text, known)
	return known, true
}

// parsed holds the operations of the descriptions that were asked for.
var parsed sync.Map

// operation returns the operation that package arch describes by a name.
func operation(name string) Operation {
	if act, sized := actionOf(name); act != unknown && !sized {
		return Operation{act, fixedSize(act)}
	}
	letters := strings.TrimRight(name, "0123456789")
	act, sized := actionOf(letters)
	bits, err := strconv.ParseUint(name[len(letters):], 10, 8)
	if !sized || err != nil {
		return Operation{}
	}
	return Operation{act, uint8(bits / 8)}
}

// fixedSize returns the size in bytes of an action that has one size.
func fixedSize(a action) uint8 {
	switch a {
	case none:
		return 0
	case relative31:
		return 4
	}
	return 1
}

// IsKnown reports whether o is a relocation of data: the zero Operation is not.
func (o Operation) IsKnown() bool { return o.act != unknown }

// IsNone reports whether o leaves the data as they are.
func (o Operation) IsNone() bool { return o.act == none }

// Size returns the size in bytes of the place that o changes.
func (o Operation) Size() int { return int(o.size) }

// Apply applies o at the start of b. Place is its address, and value is S + A. With
// inPlace the addend is at the place, and is added.
func (o Operation) Apply(b []byte, order binary.ByteOrder, place, value uint64, inPlace bool) {
	switch o.act {
	case set6, subtract6:
		v := byte(value)
		if o.act == subtract6 {
			v = b[0] - v
		}
		b[0] = b[0]&0xc0 | v&0x3f
		return
	case setULEB, addULEB, subULEB:
		patchULEB(b, o.act, value)
		return
	}
	old := getUint(b[:o.size], order)
	switch o.act {
	case absolute, relative, relativeAfter:
		if inPlace {
			value += old
		}
		if o.act != absolute {
			value -= place
		}
		if o.act == relativeAfter {
			value -= 8
		}
	case relative31:
		if inPlace {
			value += old
		}
		value = old&(1<<31) | (value-place)&(1<<31-1)
	case add:
		value = old + value
	case subtract:
		value = old - value
	}
	putUint(b[:o.size], order, value)
}

// patchULEB replaces the ULEB128 at the start of b and keeps its length.
func patchULEB(b []byte, act action, value uint64) {
	old, _, err := leb128.Uint(b)
	if err != nil {
		return
	}
	switch act {
	case addULEB:
		value = old + value
	case subULEB:
		value = old - value
	}
	leb128.PutUint(b, value)
}

// getUint and putUint access a number of all bytes of b, 1 to 8.
func getUint(b []byte, order binary.ByteOrder) (v uint64) {
	little := order == binary.ByteOrder(binary.LittleEndian)
	for i, c := range b {
		if little {
			v |= uint64(c) << (8 * i)
		} else {
			v = v<<8 | uint64(c)
		}
	}
	return v
}

func putUint(b []byte, order binary.ByteOrder, v uint64) {
	little := order == binary.ByteOrder(binary.LittleEndian)
	for i := range b {
		if little {
			b[i] = byte(v >> (8 * i))
		} else {
			b[i] = byte(v >> (8 * (len(b) - 1 - i)))
		}
	}
}
