// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
)

// NewCIE returns a CIE for writing, with the factors and the return address
// column of a machine and without a rule. Its fields may be set before its
// first use, and not after:
//
//   - where Version is 0 it is 1, or 3 where the return address's column needs it;
//   - where Augmentation is "" its letters follow from the other fields, and are
//     none where nothing is set and PointerEncoding is EncAbsptr;
//   - PointerEncoding is pc-relative in four bytes until it is set;
//   - Instructions are the initial rules, encoded for the machine and factors; a
//     Builder's CIE method makes them;
//   - Offset, Size, AugmentationData and InstructionsOffset say where a CIE was
//     decoded, and have no meaning in one that was made.
func NewCIE(m *arch.Machine) *CIE {
	cie := &CIE{Section: &Section{Name: "CIE", Machine: m},
		PointerEncoding: EncPCRel | EncSdata4, LSDAEncoding: EncOmit, PersonalityEnc: EncOmit}
	if m != nil {
		cie.AddressSize = uint8(m.AddressSize)
		cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = m.CodeAlign, m.DataAlign, uint64(m.ReturnAddress)
	}
	return cie
}

// EntryCIE returns a CIE for writing with the rules that hold at the first
// instruction of a function (the psABIs' state at a call): on amd64 the CFA is
// rsp+8 and the return address saved at CFA-8, on arm64 the CFA is sp. For a
// machine of which Clew does not know this state the CIE is of no use: every
// Builder and Encoder that is given it returns an error that wraps ErrCIE.
func EntryCIE(m *arch.Machine) *CIE {
	b := NewBuilder(NewCIE(m))
	switch {
	case b.w.err != nil:
	case m.StackPointer < 0:
		b.w.err = fmt.Errorf("%w: what holds where a function is called is not known of %s", ErrCIE, m.Name)
	case m.PushesReturns():
		b.DefCFA(uint64(m.StackPointer), int64(m.RegisterSize))
		b.Offset(uint64(m.ReturnAddress), -int64(m.RegisterSize))
	default:
		b.DefCFA(uint64(m.StackPointer), m.CFAOffset)
	}
	cie, err := b.CIE()
	if err != nil {
		cie = NewCIE(m)
		cie.err = err
	}
	return cie
}

// usable reports what keeps a CIE from being written anywhere.
func (cie *CIE) usable() error {
	switch {
	case cie == nil:
		return fmt.Errorf("%w: there is none", ErrCIE)
	case cie.err != nil:
		return cie.err
	case cie.Section == nil || cie.Section.Machine == nil:
		return fmt.Errorf("%w: it says no machine", ErrCIE)
	case cie.ReturnAddress == math.MaxUint64:
		return fmt.Errorf("%w: it does not say the return address's column, and that of %s is not known", ErrCIE, cie.Section.Machine.Name)
	}
	return nil
}
