// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"unsafe"

	"github.com/clewdev/clew/cfi"
)

// dictionary holds each distinct set of rules once. A module of a million rows has
// about a thousand sets.
type dictionary struct {
	seed   maphash.Seed
	slots  []uint32  // numbers, each at its hash or after it; 0 is free; a power of two, half full at most
	hashes []uint32  // by number
	rules  [][]Rules // by number, chunkSize in each; the first is a placeholder
	key    []byte
	spare  int // bytes left for more rules

	// recent holds numbers by a quick hash. A hostile input can make all rules share
	// one value.
	recent [1 << 12]uint32
}

// chunkSize bounds the rules that are copied as the dictionary grows.
const chunkSize = 256

// dropped is the number of rules above the limit, which were not kept.
const dropped = math.MaxUint32

func newDictionary(spare int) *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), slots: make([]uint32, 16), hashes: make([]uint32, 1),
		rules: [][]Rules{make([]Rules, 1)}, spare: spare}
}

func (d *dictionary) len() int { return len(d.hashes) }

func (d *dictionary) at(n uint32) *Rules { return &d.rules[n/chunkSize][n%chunkSize] }

// number returns the number of a row's rules, and adds them if they are new. It returns
// dropped if they exceed the limit.
func (d *dictionary) number(row *cfi.Row, cie *cfi.CIE) uint32 {
	recent := &d.recent[quickHash(row)%uint64(len(d.recent))]
	if n := *recent; n != 0 && d.at(n).are(row, cie) {
		return n
	}
	h := d.hash(row, cie)
	slot := d.slotOf(h)
	for ; d.slots[slot] != 0; slot = d.after(slot) {
		if n := d.slots[slot]; d.hashes[n] == h && d.at(n).are(row, cie) {
			*recent = n
			return n
		}
	}
	// 32 bytes for the entry's slots and hash.
	d.spare -= int(unsafe.Sizeof(Rules{})) + len(row.Registers)*int(unsafe.Sizeof(cfi.RegisterRule{})) + 32
	if d.spare < 0 {
		return dropped
	}
	n := uint32(d.len())
	if n%chunkSize == 0 {
		d.rules = append(d.rules, make([]Rules, 0, chunkSize))
	}
	last := &d.rules[len(d.rules)-1]
	*last = append(*last, newRules(row, cie))
	d.hashes = append(d.hashes, h)
	d.slots[slot], *recent = n, n
	if 2*d.len() > len(d.slots) {
		d.grow()
	}
	return n
}

func (d *dictionary) slotOf(hash uint32) int { return int(hash) & (len(d.slots) - 1) }

func (d *dictionary) after(slot int) int { return (slot + 1) & (len(d.slots) - 1) }

func (d *dictionary) grow() {
	d.slots = make([]uint32, 2*len(d.slots))
	for n, h := range d.hashes[1:] {
		slot := d.slotOf(h)
		for d.slots[slot] != 0 {
			slot = d.after(slot)
		}
		d.slots[slot] = uint32(1 + n)
	}
}

func quickHash(row *cfi.Row) uint64 {
	const multiplier = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := (uint64(row.CFA.Offset)<<8 + uint64(row.CFA.Register)) * multiplier
	for i := range row.Registers {
		r := &row.Registers[i]
		h = (h ^ uint64(r.Column)<<40 ^ uint64(r.Offset)) * multiplier
	}
	return h >> 32
}

// hash depends on everything that are compares except the section, so that no input can
// make many rules share one.
func (d *dictionary) hash(row *cfi.Row, cie *cfi.CIE) uint32 {
	k := appendRule(d.key[:0], row.CFA)
	for i := range row.Registers {
		r := &row.Registers[i]
		k = appendRule(binary.LittleEndian.AppendUint32(k, r.Column), r.Rule)
	}
	k = binary.LittleEndian.AppendUint64(k, cie.ReturnAddress)
	d.key = append(k, flag(row.Signed), flag(cie.SignalFrame))
	return uint32(maphash.Bytes(d.seed, d.key))
}

func appendRule(k []byte, r cfi.Rule) []byte {
	k = binary.LittleEndian.AppendUint64(append(k, byte(r.Kind)), uint64(r.Offset))
	return binary.LittleEndian.AppendUint32(k, r.Register)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
