// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Rules describe how to get from a frame to its caller's: they are a row of an unwind
// table without its addresses. Rules are shared and must not be changed.
type Rules struct {
	CFA           cfi.Rule
	Registers     []cfi.RegisterRule // the columns that have a rule, in ascending order
	ReturnAddress uint64             // column
	SignalFrame   bool               // a signal interrupted the frame; it did not make a call (augmentation 'S')
	Signed        bool               // the return address is signed (AArch64)
	Section       *cfi.Section       // where the rules' expressions are

	// OtherStack reports that the function may have changed stacks. The CFA is on its
	// caller's stack, which can be anywhere. It is set for CFAs that an expression reads
	// from memory.
	OtherStack bool

	// Interrupts reports that the caller did not call the function. A signal
	// interrupted it, and the runtime of its language made that look like a call.
	Interrupts bool

	plain plain // of those that newRules made

	// derived reports that the rules were made from code: by Module.Analyze if analysed is set,
	// else by package codeframe. Only then, zeroed and first have the meaning of
	// codeframe.Frame's Zeroed and First.
	derived, analysed, zeroed, first bool
}

// Source finds the rules at an address of one module.
type Source interface {
	// Rules returns the rules that hold at an address without load bias. The error
	// wraps cfi.ErrNoFDE if the source does not cover the address.
	Rules(pc uint64) (*Rules, error)
}

func newRules(row *cfi.Row, cie *cfi.CIE) Rules {
	r := Rules{CFA: row.CFA, ReturnAddress: cie.ReturnAddress, SignalFrame: cie.SignalFrame,
		Signed: row.Signed, Section: cie.Section}
	if len(row.Registers) > 0 {
		r.Registers = slices.Clone(row.Registers)
	}
	r.plain, r.OtherStack = plainOf(&r, cie.Section.Machine), readsCFA(row.CFA, cie.Section)
	return r
}

// FrameAddress returns the canonical frame address, a run-time address, of a frame in
// which the rules hold. It gets registers and memory from f, and evaluates an
// expression (DWARF 5 §6.4.2.2) with eval, or with a new Evaluator if eval is nil. The
// error names the missing register, or wraps the error of f's memory.
func (r *Rules) FrameAddress(m *arch.Machine, f cfi.Frame, eval *cfi.Evaluator) (uint64, error) {
	switch r.CFA.Kind {
	case cfi.Register:
		v, ok := f.Register(uint64(r.CFA.Register))
		if !ok {
			return 0, fmt.Errorf("%w: %s is not known", errNoValue, m.RegisterName(uint64(r.CFA.Register)))
		}
		return m.Truncate(v + uint64(r.CFA.Offset)), nil
	case cfi.ValExpression:
		if eval == nil {
			eval = new(cfi.Evaluator)
		}
		return eval.CFA(r.Section, r.CFA, f)
	}
	return 0, fmt.Errorf("%w: the table does not define it", errNoValue)
}

// are reports whether the rules are those of a row.
func (r *Rules) are(row *cfi.Row, cie *cfi.CIE) bool {
	return r.CFA == row.CFA && r.Signed == row.Signed && r.ReturnAddress == cie.ReturnAddress && r.SignalFrame == cie.SignalFrame &&
		r.Section == cie.Section && slices.Equal(r.Registers, row.Registers)
}
