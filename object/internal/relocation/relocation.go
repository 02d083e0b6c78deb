// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package relocation has the relocations of data, by machine, and applies them. Those of
// instructions are a linker's.
package relocation

import (
	"debug/elf"
	"encoding/binary"
	"sync"

	"github.com/clewdev/clew/internal/leb128"
)

// Operation is the effect of a relocation on the bytes at its place.
type Operation struct {
	act  action
	size uint8 // bytes
}

type action uint8

const (
	unknown    action = iota
	none              // no effect, or a hint for a linker
	absolute          // S + A
	relative          // S + A - P
	add               // V + S + A
	subtract          // V - S - A
	set6              // low six bits: S + A
	subtract6         // low six bits: V - S - A
	setULEB           // ULEB128 of unchanged length: S + A
	addULEB           // V + S + A
	subULEB           // V - S - A
	relative31        // low 31 bits: S + A - P
)

var (
	abs8, abs16, abs32, abs64 = Operation{absolute, 1}, Operation{absolute, 2}, Operation{absolute, 4}, Operation{absolute, 8}
	rel8, rel16, rel32, rel64 = Operation{relative, 1}, Operation{relative, 2}, Operation{relative, 4}, Operation{relative, 8}
	ignored                   = Operation{act: none}
)

// Operations returns the relocations of a machine by their type, false for a machine that
// is not in the table. The map must not be changed.
func Operations(machine elf.Machine) (known map[uint32]Operation, ok bool) {
	known, ok = operations()[machine]
	return known, ok
}

// IsKnown reports whether o is a relocation of data: the zero Operation is not.
func (o Operation) IsKnown() bool { return o.act != unknown }

// IsNone reports whether o leaves the data as they are.
func (o Operation) IsNone() bool { return o.act == none }

// Size returns the size in bytes of the place that o changes.
func (o Operation) Size() int { return int(o.size) }

// Apply applies o at the start of b. Place is its address, and value is S + A. With
// inPlace the addend is at the place, and is added.
func (o Operation) Apply(b []byte, order binary.ByteOrder, machine elf.Machine, place, value uint64, inPlace bool) {
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
	case absolute, relative:
		if inPlace {
			value += old
		}
		if o.act == relative {
			value -= place
			if machine == elf.EM_PARISC {
				value -= 8 // PA-RISC counts from the instruction after the delay slot
			}
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

// operations are the relocations that assemblers put into data, by machine and type; the
// numbers are those of each machine's psABI supplement.
var operations = sync.OnceValue(func() map[elf.Machine]map[uint32]Operation {
	sparc := map[uint32]Operation{
		0: ignored, 1: abs8, 2: abs16, 3: abs32, 4: rel8, 5: rel16, 6: rel32,
		23: abs32, 32: abs64, 46: rel64, 54: abs64, 55: abs16,
	}
	return map[elf.Machine]map[uint32]Operation{
		elf.EM_X86_64:  {0: ignored, 1: abs64, 2: rel32, 10: abs32, 11: abs32, 12: abs16, 13: rel16, 14: abs8, 15: rel8, 24: rel64},
		elf.EM_386:     {0: ignored, 1: abs32, 2: rel32, 20: abs16, 21: rel16, 22: abs8, 23: rel8},
		elf.EM_ARM:     {0: ignored, 2: abs32, 3: rel32, 5: abs16, 8: abs8, 40: ignored, 42: {relative31, 4}},
		elf.EM_AARCH64: {0: ignored, 256: ignored, 257: abs64, 258: abs32, 259: abs16, 260: rel64, 261: rel32, 262: rel16, 1: abs32, 2: abs16, 3: rel32},
		elf.EM_MIPS:    {0: ignored, 1: abs16, 2: abs32, 18: abs64, 248: rel32},
		elf.EM_PPC:     {0: ignored, 1: abs32, 3: abs16, 24: abs32, 25: abs16, 26: rel32},
		elf.EM_PPC64:   {0: ignored, 1: abs32, 3: abs16, 24: abs32, 25: abs16, 26: rel32, 38: abs64, 43: abs64, 44: rel64},
		elf.EM_S390:    {0: ignored, 1: abs8, 3: abs16, 4: abs32, 5: rel32, 16: rel16, 22: abs64, 23: rel64},
		elf.EM_SPARC:   sparc, elf.EM_SPARC32PLUS: sparc, elf.EM_SPARCV9: sparc,
		elf.EM_RISCV: {
			0: ignored, 1: abs32, 2: abs64, 43: ignored, 51: ignored,
			33: {add, 1}, 34: {add, 2}, 35: {add, 4}, 36: {add, 8},
			37: {subtract, 1}, 38: {subtract, 2}, 39: {subtract, 4}, 40: {subtract, 8},
			52: {subtract6, 1}, 53: {set6, 1}, 54: abs8, 55: abs16, 56: abs32, 57: rel32,
			60: {setULEB, 1}, 61: {subULEB, 1},
		},
		elf.EM_LOONGARCH: {
			0: ignored, 1: abs32, 2: abs64, 100: ignored, 102: ignored,
			47: {add, 1}, 48: {add, 2}, 49: {add, 3}, 50: {add, 4}, 51: {add, 8},
			52: {subtract, 1}, 53: {subtract, 2}, 54: {subtract, 3}, 55: {subtract, 4}, 56: {subtract, 8},
			99: rel32, 105: {set6, 1}, 106: {subtract6, 1}, 107: {addULEB, 1}, 108: {subULEB, 1}, 109: rel64,
		},
		elf.EM_SH:     {0: ignored, 1: abs32, 2: rel32, 33: abs16, 34: abs8},
		elf.EM_PARISC: {0: ignored, 1: abs32, 9: rel32, 49: abs32, 65: abs32, 72: rel64, 80: abs64},
		elf.EM_68K:    {0: ignored, 1: abs32, 2: abs16, 3: abs8, 4: rel32, 5: rel16, 6: rel8},
		elf.EM_ALPHA:  {0: ignored, 1: abs32, 2: abs64, 10: rel32, 11: rel64},
		elf.EM_IA_64: {
			0: ignored, 0x24: abs32, 0x25: abs32, 0x26: abs64, 0x27: abs64,
			0x4c: rel32, 0x4d: rel32, 0x4e: rel64, 0x4f: rel64,
		},
		elf.EM_XTENSA:       {0: ignored, 1: abs32, 14: rel32, 17: {add, 1}, 18: {add, 2}, 19: {add, 4}},
		elf.EM_MICROBLAZE:   {0: ignored, 1: abs32, 2: rel32},
		elf.EM_OPENRISC:     {0: ignored, 1: abs32, 2: abs16, 3: abs8, 9: rel32},
		elf.EM_ALTERA_NIOS2: {0: ignored, 20: abs32, 21: abs16, 22: abs8},
	}
})
