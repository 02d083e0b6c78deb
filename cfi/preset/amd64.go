// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import "github.com/clewdev/clew/cfi"

// DWARF columns: psABI amd64 Figure 3.36.
const rbp, rsp, rip = 6, 7, 16

var amd64 = machine{
	framePointer: framePointerAMD64, fixed: fixedAMD64,
	cpython: func(b *cfi.Builder, landing bool) bool {
		start := uint64(0)
		if landing {
			// CPython writes this advance although no rule follows it.
			b.Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 4})
			start = 4
		}
		b.At(start+1).DefCFAOffset(16).Offset(rbp, -16)
		b.At(start + 4).DefCFARegister(rbp)
		b.At(start+7).DefCFA(rsp, 8)
		return true
	},
	shim: Shim{1, -8, rip, rbp, 16, []Saved{{rbp, -16}, {rip, -8}}},
}

// pushSize returns the size of a push or pop: r8 to r15 need a REX prefix.
func pushSize(register uint64) uint64 {
	if register >= 8 {
		return 2
	}
	return 1
}

func framePointerAMD64(b *builder, f *Frame) (*cfi.Program, error) {
	b.after(1).DefCFAOffset(16)
	b.save(rbp, -16)
	b.after(3).DefCFARegister(rbp)
	b.frame = rbp
	for i, register := range f.Pushed {
		b.after(pushSize(register))
		b.save(register, -24-8*int64(i))
	}
	b.saved(f)
	return b.end(f, func() {
		for i := len(f.Pushed) - 1; i >= 0; i-- {
			b.after(pushSize(f.Pushed[i])).Restore(f.Pushed[i])
		}
		b.after(1).Restore(rbp).DefCFA(rsp, 8)
		b.restore(f)
	})
}

func fixedAMD64(b *builder, f *Frame) (*cfi.Program, error) {
	if f.Size%8 != 0 || f.Size > 1<<31-1 {
		return nil, refuse("a frame of %d bytes, which sub rsp, %d cannot encode", f.Size, f.Size)
	}
	cfa := int64(8)
	for _, register := range f.Pushed {
		cfa += 8
		b.after(pushSize(register)).DefCFAOffset(cfa)
		b.save(register, -cfa)
	}
	move := uint64(4)
	switch {
	case f.Size == 0:
		move = 0
	case f.Size > 127: // a displacement of four bytes
		move = 7
	}
	if move > 0 {
		b.after(move).DefCFAOffset(cfa + int64(f.Size))
	}
	b.saved(f)
	return b.end(f, func() {
		if at := b.after(move); move > 0 {
			at.DefCFAOffset(cfa)
		}
		b.restore(f)
		cfa := cfa
		for i := len(f.Pushed) - 1; i >= 0; i-- {
			cfa -= 8
			b.after(pushSize(f.Pushed[i])).Restore(f.Pushed[i]).DefCFAOffset(cfa)
		}
	})
}
