// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "github.com/clewdev/clew/cfi"

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
