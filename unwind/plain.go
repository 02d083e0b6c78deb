// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// plain holds rules in their usual form. The CFA is the stack pointer or the frame
// pointer plus an offset. The return address is on the stack. The frame pointer is on
// the stack or unchanged. The caller's stack pointer is the CFA. Such a frame is left
// with a few loads. plain omits the other registers that the rules restore.
type plain struct {
	cfa uint32 // offset from the base in bytes, like the next two; at most 1<<31
	ra  uint32 // of the slot of the return address
	fp  uint32 // of the slot of the frame pointer; ra if it has no slot
	is  facts
}

// facts are properties of the address of a frame.
type facts uint32

const (
	isPlain     facts = 1 << iota // the offsets count
	fromFP                        // the base is the frame pointer, else the stack pointer
	savesFP                       // the frame pointer has a slot
	isSigned                      // the return address is signed
	isOutermost                   // the rules call the return address undefined
	hasRules
	isExecutable
	isTrampoline  // of signals
	looksUpAtPC   // though the frame was not interrupted
	leftByPointer // by the frame pointer, in the absence of rules
)

// reach is the greatest distance above the CFA at which a slot may end: ppc64's callers
// keep a save area there.
const reach = 32

// plainOf returns the plain form of rules, without isPlain and isOutermost if they have
// none.
func plainOf(r *Rules, m *arch.Machine) plain {
	if !canBePlain(m) || r.CFA.Kind != cfi.Register || r.SignalFrame || r.Interrupts {
		return plain{}
	}
	p := plain{is: isPlain}
	switch int(r.CFA.Register) {
	case m.StackPointer:
	case m.FramePointer:
		p.is |= fromFP
	default:
		return plain{}
	}
	if r.Signed {
		p.is |= isSigned
	}
	returns := false
	slot := func(offset int64) (uint32, bool) {
		at := r.CFA.Offset + offset
		return uint32(at), offset <= reach-8 && at >= 0 && at <= math.MaxInt32
	}
	for i := range r.Registers {
		rule := &r.Registers[i]
		ok := true
		switch column := int(rule.Column); {
		case uint64(rule.Column) == r.ReturnAddress:
			if rule.Kind == cfi.Undefined {
				return plain{is: isOutermost | p.is&fromFP}
			}
			p.ra, ok = slot(rule.Offset)
			ok = ok && rule.Kind == cfi.Offset
			returns = true
		case column == m.StackPointer || column == m.ProgramCounter:
			ok = false
		case column == m.FramePointer && rule.Kind == cfi.Offset:
			p.fp, ok = slot(rule.Offset)
			p.is |= savesFP
		case column == m.FramePointer:
			ok = rule.Kind == cfi.SameValue
		}
		if !ok {
			return plain{}
		}
	}
	if !returns || r.CFA.Offset <= 0 || r.CFA.Offset > math.MaxInt32 || int(r.ReturnAddress) == m.StackPointer ||
		int(r.ReturnAddress) == m.FramePointer {
		return plain{}
	}
	p.cfa = uint32(r.CFA.Offset)
	if p.is&savesFP == 0 {
		p.fp = p.ra
	}
	return p
}

// canBePlain reports whether rules of a machine can have the plain form.
func canBePlain(m *arch.Machine) bool {
	return m.AddressSize == 8 && m.RegisterSize == 8 && m.Order == binary.LittleEndian && m.CFAOffset == 0 && m.ReturnOffset == 0 && m.CodeMask == math.MaxUint64 &&
		m.StackPointer >= 0 && m.FramePointer >= 0 && m.FramePointer < MaxColumns && m.StackPointer < MaxColumns &&
		m.CalleeSaved(uint64(m.FramePointer))
}

// farAway is above every stack pointer.
const farAway = math.MaxUint64
