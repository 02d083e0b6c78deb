// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"debug/elf"
	"fmt"
)

// frameRecord is where a machine's compilers keep the frame record that the
// frame pointer leads to: offsets from the frame pointer, in words.
type frameRecord struct {
	fp  int64 // of the caller's frame pointer
	ra  int64 // of the return address
	cfa int64 // of the lowest address that the caller's frame can have
}

// frameRecordOf returns the record of a machine: psABI amd64 §3.2.2, i386 §2.2.2,
// AAPCS64 §6.4.6, riscv-elf-psabi "Frame Pointer Convention", LoongArch psABI.
func frameRecordOf(machine elf.Machine) (record frameRecord, ok bool) {
	switch machine {
	case elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64:
		return frameRecord{0, 1, 2}, true
	case elf.EM_RISCV, elf.EM_LOONGARCH:
		return frameRecord{-2, -1, 0}, true
	}
	return frameRecord{}, false
}

// framePointer leaves the current frame, which no rules cover, by its frame
// pointer.
func (w *Walker) framePointer() bool {
	m := w.Machine
	record, ok := frameRecordOf(m.ELF)
	if !ok {
		return w.end(NoRule, w.why(&w.frame))
	}
	fp, known := w.Register(uint64(m.FramePointer))
	sp, _ := w.Register(uint64(m.StackPointer))
	word := uint64(m.RegisterSize)
	switch {
	case known && fp == 0 && w.frame.Method == FromFramePointer:
		// The outermost frame's is zero (psABI amd64 §3.4.1).
		return w.end(EndOfStack, nil)
	case !known || fp < sp || fp%word != 0:
		return w.end(NoRule, fmt.Errorf("%w; and %s holds no frame pointer (%#x, stack pointer %#x)",
			w.why(&w.frame), m.RegisterName(uint64(m.FramePointer)), fp, sp))
	}
	at := func(words int64) uint64 { return fp + uint64(words*int64(word)) }
	next, err := w.read(at(record.fp))
	var pc uint64
	if err == nil {
		pc, err = w.read(at(record.ra))
	}
	if err != nil {
		return w.end(UnreadableMemory, fmt.Errorf("%w; and by the frame pointer: %w", w.why(&w.frame), err))
	}
	if m.ELF == elf.EM_AARCH64 {
		pc = unsigned(pc)
	}
	if _, executable := w.module(pc - 1); !executable {
		if pc == 0 {
			return w.end(EndOfStack, nil)
		}
		return w.end(NoRule, fmt.Errorf("%w; and the frame pointer leads to %#x, which is not code", w.why(&w.frame), pc))
	}
	// The function may have changed every other register and saved it anywhere.
	w.regs.keep(&columnSet{})
	w.fresh = append(w.fresh[:0], columnValue{uint64(m.FramePointer), next, true})
	return w.commit(pc, at(record.cfa), sp, false)
}
