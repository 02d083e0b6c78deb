// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"hash/maphash"

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
	seed   maphash.Seed
	byHash map[uint64][]uint32
	rules  []Rules
	key    []byte
}

func newDictionary() *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), byHash: make(map[uint64][]uint32)}
}

// number returns the number of a row's rules, and adds them where they are new.
func (d *dictionary) number(row *cfi.Row, cie *cfi.CIE) uint32 {
	h := d.hash(row, cie)
	for _, n := range d.byHash[h] {
		if d.rules[n].are(row, cie) {
			return n
		}
	}
	n := uint32(len(d.rules))
	d.rules = append(d.rules, newRules(row, cie))
	d.byHash[h] = append(d.byHash[h], n)
	return n
}

func (d *dictionary) hash(row *cfi.Row, cie *cfi.CIE) uint64 {
	k := appendRule(d.key[:0], row.CFA)
	for i := range row.Registers {
		r := &row.Registers[i]
		k = append(k, byte(r.Column), byte(r.Column>>8))
		k = appendRule(k, r.Rule)
	}
	d.key = append(k, byte(cie.ReturnAddress))
	return maphash.Bytes(d.seed, d.key)
}

func appendRule(k []byte, r cfi.Rule) []byte {
	return append(k, byte(r.Kind), byte(r.Register), byte(r.Offset), byte(r.Offset>>8), byte(r.Offset>>16))
}

func newRules(row *cfi.Row, cie *cfi.CIE) Rules {
	r := Rules{CFA: row.CFA, ReturnAddress: cie.ReturnAddress, SignalFrame: cie.SignalFrame,
		Signed: row.Signed, Section: cie.Section}
	if len(row.Registers) > 0 {
		r.Registers = append([]cfi.RegisterRule(nil), row.Registers...)
	}
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
