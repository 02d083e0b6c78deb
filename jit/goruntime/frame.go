// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"errors"
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// ErrFrame means that Go's runtime could not walk through a function, or would corrupt its
// stack. See "Frames" in the documentation of the package.
var ErrFrame = errors.New("frame that Go's runtime cannot walk through")

func framef(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFrame}, args...)...)
}

// Columns and places of Go's frames. They are the same on both machines apart from the
// return address: amd64 pushes it, and arm64 stores it at the stack pointer.
const (
	columnLR = 30 // arm64

	// The caller's frame pointer is saved here, from the CFA: runtime.adjustframe adjusts
	// this word when the stack moves.
	savedFPAMD64 = -16
	savedFPARM64 = -8
)

// noDepth marks code from which Go's runtime cannot find the caller. Walks stop there.
const noDepth = math.MinInt32

// frames computes the depths of the stack in functions.
type frames struct {
	machine     *arch.Machine
	encoder     cfi.Encoder
	interpreter cfi.Interpreter
	fde         cfi.FDE

	// The depths of the last table, if they do not depend on the code. Batches often share one.
	last       *cfi.Program
	lastDepths []valueFrom
}

// pointers checks the pointers in the frame of a function, of which the depths are known.
func (x *frames) pointers(s *steps, f *jit.Function) error {
	deepest := int64(0)
	for _, v := range s.list {
		deepest = max(deepest, int64(v.value))
	}
	size := int64(x.machine.AddressSize)
	first, last := -deepest-size, savedFPAMD64-size
	if x.machine.ReturnAddress == columnLR { // at the stack pointer
		first, last = -deepest+size, savedFPARM64-size
	}
	for _, word := range f.Pointers {
		if word < first || word > last || word%size != 0 {
			return framef("its pointer at CFA%+d is not in a word of its frame, from CFA%+d to CFA%+d", word, first, last)
		}
	}
	return nil
}

// depths adds the depth at each instruction of a function: the distance from the stack
// pointer to its value at the call (runtime.funcspdelta).
func (x *frames) depths(s *steps, f *jit.Function, code []byte) error {
	switch {
	case f.Unwind == nil:
		return framef("it has no unwind table")
	case f.SwitchesStack:
		return framef("it switches stacks")
	case f.Unwind == x.last:
		s.list = append(s.list, x.lastDepths...)
		return nil
	}
	x.encoder.Reset()
	x.encoder.Machine = x.machine
	// The address does not matter: programs do not depend on it.
	if err := x.encoder.Program(f.Unwind, 1<<20, f.Size); err != nil {
		return err
	}
	section := cfi.Section{Name: "unwind table", Machine: x.machine, Data: x.encoder.Data}
	if err := section.Find(1<<20, &x.fde); err != nil {
		return err
	}
	sc := stackCode{body: -1}
	// The depth at the end of the rows so far, and of those by the stack pointer; -1 if unknown.
	depthAfter, from, to := int64(0), uint64(0), uint64(0) // [from, to) are rows by the frame pointer
	flush := func() (err error) {
		if from < to {
			depthAfter, err = sc.rangeDepths(s, code, from, to, depthAfter)
		}
		from = to
		return err
	}
	for row := range x.interpreter.Rows(&x.fde) {
		at := row.Start - x.fde.Start
		if row.Start >= row.End || at >= f.Size {
			continue
		}
		byFrame, err := x.byFrame(row)
		if err != nil {
			return fmt.Errorf("%w at +%#x", err, at)
		}
		if byFrame {
			if from == to {
				from = at
			}
			to = min(row.End-x.fde.Start, f.Size)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		depth, err := x.depth(row)
		if err != nil {
			return fmt.Errorf("%w at +%#x", err, at)
		}
		if at == to && to > 0 && depthAfter >= 0 && depthAfter != int64(depth) {
			return framef("its code and its unwind table differ at +%#x: the stack pointer is %d and %d bytes below the return address", at, depthAfter, depth)
		}
		s.add(at, depth)
		depthAfter = int64(depth)
	}
	if err := flush(); err != nil {
		return err
	}
	if err := sc.check(); err != nil {
		return err
	}
	if err := x.interpreter.Err(); err != nil {
		return err
	}
	if len(s.list) == 0 || s.list[0].offset != 0 {
		return framef("its unwind table has no row at its start")
	}
	if sc.body < 0 && f.Unwind.End < f.Size { // no row needed the code, and none was past it
		x.last, x.lastDepths = f.Unwind, append(x.lastDepths[:0], s.list...)
	}
	return nil
}

// byFrame reports whether the CFA of a row is relative to the frame pointer, in a way that Go's
// runtime can walk through if the depth is known.
func (x *frames) byFrame(row *cfi.Row) (bool, error) {
	m := x.machine
	if m.ReturnAddress == columnLR || row.CFA.Kind != cfi.Register || int(row.CFA.Register) != m.FramePointer {
		return false, nil
	}
	size, fp := int64(m.AddressSize), row.Register(uint64(m.FramePointer))
	switch address := row.Register(uint64(m.ReturnAddress)); {
	case row.CFA.Offset != 2*size:
		return false, framef("its CFA is the frame pointer plus %d", row.CFA.Offset)
	case address.Kind != cfi.Offset || address.Offset != -size:
		return false, framef("its return address is not below the CFA")
	case fp.Kind != cfi.Offset || fp.Offset != savedFPAMD64:
		return false, framef("it saves the frame pointer elsewhere than at CFA%+d", savedFPAMD64)
	}
	return true, nil
}

// depth returns the depth of a row, if Go's runtime finds the caller with it.
func (x *frames) depth(row *cfi.Row) (int32, error) {
	m := x.machine
	if row.CFA.Kind != cfi.Register || int(row.CFA.Register) != m.StackPointer {
		return 0, framef("its CFA is not relative to the stack pointer")
	}
	pushed := int64(m.AddressSize) // by the call
	if m.ReturnAddress == columnLR {
		pushed = 0
	}
	depth := row.CFA.Offset - pushed
	if depth < 0 || depth > 1<<30 || depth%int64(m.AddressSize) != 0 {
		return 0, framef("its CFA is the stack pointer plus %d", row.CFA.Offset)
	}
	saved := int64(savedFPAMD64)
	address := row.Register(uint64(m.ReturnAddress))
	if m.ReturnAddress == columnLR {
		saved = savedFPARM64
		switch unchanged := address.Kind == cfi.Unspecified || address.Kind == cfi.SameValue; {
		case unchanged && depth == 0:
		case unchanged || address.Kind == cfi.Register:
			// A prologue or epilogue that moves the stack pointer alone, or a call of a stub.
			depth = noDepth
		case address.Kind != cfi.Offset || address.Offset != -depth || depth == 0:
			return 0, framef("its return address is not at the stack pointer, where Go's runtime reads it (save it with str x30, [sp, #-SIZE]!, not with stp x29, x30)")
		}
	} else if address.Kind != cfi.Offset || address.Offset != -pushed {
		return 0, framef("its return address is not below the CFA")
	}
	if row.Signed {
		return 0, framef("its return address is signed")
	}
	switch fp := row.Register(uint64(m.FramePointer)); {
	case fp.Kind == cfi.Unspecified || fp.Kind == cfi.SameValue:
	case fp.Kind == cfi.Undefined: // the frame was given up
		return noDepth, nil
	case fp.Kind != cfi.Offset || fp.Offset != saved:
		return 0, framef("it saves the frame pointer elsewhere than at CFA%+d", saved)
	}
	return int32(depth), nil
}
