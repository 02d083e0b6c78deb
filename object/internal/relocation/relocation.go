// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package relocation applies the relocations of data, but not those of instructions.
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

// sizedActions are the actions to which package arch adds a size in bits.
var sizedActions = map[string]action{"abs": absolute, "rel": relative, "after": relativeAfter, "add": add, "sub": subtract}

// operations are those with one size, by their names in package arch.
var operations = map[string]Operation{
	"none": {none, 0}, "rel31": {relative31, 4}, "set6": {set6, 1}, "sub6": {subtract6, 1},
	"setuleb": {setULEB, 1}, "adduleb": {addULEB, 1}, "subuleb": {subULEB, 1},
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

// parsed holds the operations of descriptions, by their text.
var parsed sync.Map

// operation returns the operation with a name in package arch, the zero Operation if there is
// none.
func operation(name string) Operation {
	if o, ok := operations[name]; ok {
		return o
	}
	letters := strings.TrimRight(name, "0123456789")
	bits, err := strconv.ParseUint(name[len(letters):], 10, 8)
	if err != nil {
		return Operation{}
	}
	return Operation{sizedActions[letters], uint8(bits / 8)}
}

// IsKnown reports whether o is a relocation of data: the zero Operation is not.
func (o Operation) IsKnown() bool { return o.act != unknown }

// IsNone reports whether o does not change the data.
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
func getUint(b []byte, order binary.ByteOrder) uint64 {
	var word [8]byte
	if order == binary.ByteOrder(binary.LittleEndian) {
		copy(word[:], b)
	} else {
		copy(word[8-len(b):], b)
	}
	return order.Uint64(word[:])
}

func putUint(b []byte, order binary.ByteOrder, v uint64) {
	var word [8]byte
	order.PutUint64(word[:], v)
	if order == binary.ByteOrder(binary.LittleEndian) {
		copy(b, word[:])
	} else {
		copy(b, word[8-len(b):])
	}
}
