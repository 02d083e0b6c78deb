// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// atSigreturn reports whether the code at an address is a signal trampoline.
func (w *Walker) atSigreturn(pc uint64) bool { return w.sigreturnAt(pc) != nil }

// sigreturnAt returns the signal trampoline with its code at an address, nil for none.
// Trampolines with call frame information do not need it, except on machines that probe
// for signal frames.
func (w *Walker) sigreturnAt(pc uint64) *arch.SignalFrame {
	frames := w.Machine.SignalFrames
	for i := range frames {
		f := &frames[i]
		if b := w.word[:len(f.Code)]; w.readCode(b, pc) == nil && w.Machine.IsSignalFrame(f, b) {
			return f
		}
	}
	return nil
}

// CodeMemory is memory that distinguishes reads of the code that a frame runs. Such
// reads do not contribute to the registers of its caller. A Walker with a Memory that
// implements it reads code with ReadCode.
type CodeMemory interface {
	cfi.Memory
	ReadCode(p []byte, addr uint64) error // as ReadMemory
}

// sigreturn leaves a signal trampoline that no rules cover.
func (w *Walker) sigreturn() bool {
	t := w.sigreturnAt(w.regs.PC)
	if t == nil {
		return w.end(UnreadableMemory, fmt.Errorf("the signal trampoline at %#x has changed", w.regs.PC))
	}
	m := w.Machine
	sp, _ := w.Register(uint64(m.StackPointer))
	w.fresh = w.fresh[:0]
	width := cmp.Or(t.Width, uint64(m.RegisterSize))
	base := sp
	var err error
	if t.Pointer != 0 {
		base, err = w.read(sp + t.Pointer)
	}
	context := base + t.Context
	if m.Order == binary.BigEndian {
		context += width - uint64(m.RegisterSize)
	}
	var pc uint64
	if err == nil {
		pc, err = w.read(context + t.PC)
	}
	next := sp
	for i, column := range t.Columns {
		if column == arch.NoColumn || err != nil {
			continue
		}
		var v uint64
		if v, err = w.read(context + width*uint64(i)); err != nil {
			break
		}
		w.fresh = append(w.fresh, columnValue{uint64(column), v, true})
		if int(column) == m.StackPointer {
			next = v
		}
	}
	if err != nil {
		return w.end(UnreadableMemory, fmt.Errorf("the signal context of the frame at %#x: %w", w.regs.PC, err))
	}
	return w.commit(pc, next, sp, false)
}
