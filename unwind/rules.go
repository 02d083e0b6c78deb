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

// Rules are how one frame leads to the frame that called it: a row of an
// unwind table without its addresses. Rules are shared and must not be changed.
type Rules struct {
	CFA           cfi.Rule
	Registers     []cfi.RegisterRule // by ascending column; the columns that have a rule
	ReturnAddress uint64             // column
	SignalFrame   bool               // the frame was interrupted, it did not call (augmentation 'S')
	Signed        bool               // the return address is signed (AArch64)
	Section       *cfi.Section       // where the rules' expressions are

	// OtherStack says that the function has changed stacks, and that the CFA is on
	// that of its caller: it can lie anywhere.
	OtherStack bool

	// Interrupts says that the caller did not call the function: the runtime of its
	// language made it look so where a signal interrupted it.
	Interrupts bool

	plain plain // of those that newRules made
}

// Source finds the rules at an address of one module.
type Source interface {
	// Rules returns the rules that hold at an address without load bias. The
	// error wraps cfi.ErrNoFDE where the source says nothing about it.
	Rules(pc uint64) (*Rules, error)
}

// dictionary holds each distinct set of rules once: a module of a million rows
// has some thousand.
type dictionary struct {
	seed  maphash.Seed
	first map[uint64]uint32 // by hash
	next  []uint32          // by number: the next one with the same hash, 0: none
	rules []Rules           // the first is no rule
	key   []byte
	room  int // bytes that more rules may take

	// recent are numbers by a hash that is quick but that an input can defeat.
	recent [1 << 12]uint32
}

// noRoom stands for rules that were not kept.
const noRoom = math.MaxUint32

func newDictionary(room int) *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), first: make(map[uint64]uint32), next: make([]uint32, 1),
		rules: make([]Rules, 1), room: room}
}

// number returns the number of a row's rules, and adds them where they are
// new. It returns noRoom where they are too many.
func (d *dictionary) number(row *cfi.Row, cie *cfi.CIE) uint32 {
	recent := &d.recent[quickHash(row)%uint64(len(d.recent))]
	if n := *recent; n != 0 && d.rules[n].are(row, cie) {
		return n
	}
	h := d.hash(row, cie)
	first := d.first[h]
	for n := first; n != 0; n = d.next[n] {
		if d.rules[n].are(row, cie) {
			*recent = n
			return n
		}
	}
	// What an entry takes here, in the map and in next.
	d.room -= int(unsafe.Sizeof(Rules{})) + len(row.Registers)*int(unsafe.Sizeof(cfi.RegisterRule{})) + 32
	if d.room < 0 {
		return noRoom
	}
	n := uint32(len(d.rules))
	d.rules = append(d.rules, newRules(row, cie))
	d.next = append(d.next, first)
	d.first[h], *recent = n, n
	return n
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

// hash depends on all that are compares but the section, so that no input can
// make many rules share one.
func (d *dictionary) hash(row *cfi.Row, cie *cfi.CIE) uint64 {
	k := appendRule(d.key[:0], row.CFA)
	for i := range row.Registers {
		r := &row.Registers[i]
		k = appendRule(binary.LittleEndian.AppendUint32(k, r.Column), r.Rule)
	}
	k = binary.LittleEndian.AppendUint64(k, cie.ReturnAddress)
	d.key = append(k, flag(row.Signed), flag(cie.SignalFrame))
	return maphash.Bytes(d.seed, d.key)
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

func newRules(row *cfi.Row, cie *cfi.CIE) Rules {
	r := Rules{CFA: row.CFA, ReturnAddress: cie.ReturnAddress, SignalFrame: cie.SignalFrame,
		Signed: row.Signed, Section: cie.Section}
	if len(row.Registers) > 0 {
		r.Registers = append([]cfi.RegisterRule(nil), row.Registers...)
	}
	r.plain = plainOf(&r, cie.Section.Machine)
	return r
}

// are reports whether the rules are those of a row.
func (r *Rules) are(row *cfi.Row, cie *cfi.CIE) bool {
	if r.CFA != row.CFA || len(r.Registers) != len(row.Registers) || r.Signed != row.Signed ||
		r.ReturnAddress != cie.ReturnAddress || r.SignalFrame != cie.SignalFrame || r.Section != cie.Section {
		return false
	}
	for i := range r.Registers {
		if r.Registers[i] != row.Registers[i] {
			return false
		}
	}
	return true
}
