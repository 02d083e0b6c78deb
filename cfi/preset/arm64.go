// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import "github.com/clewdev/clew/cfi"

// DWARF columns: DWARF for the Arm 64-bit Architecture, §4.1.
const x29, x30, sp = 29, 30, 31

var arm64 = machine{
	framePointer: framePointerARM64, fixed: fixedARM64,
	cpython: func(b *cfi.Builder, landing bool) bool {
		b.At(4).DefCFAOffset(16).Offset(x29, -16).Offset(x30, -8)
		// The frame pointer is restored at once: the body is a single call.
		b.At(16).DefCFARegister(x29).Restore(x30).Restore(x29).DefCFA(sp, 0)
		return !landing
	},
	shim: Shim{4, -8, x30, x29, 96, []Saved{{x29, -96}, {x30, -88}}},
}

func framePointerARM64(b *builder, f *Frame) (*cfi.Program, error) {
	if f.Size == 0 {
		f.Size = 16
	}
	if f.Size%16 != 0 || f.Size > 496 {
		return nil, refuse("a frame of %d bytes, which stp x29, x30, [sp, #-%d]! cannot encode", f.Size, f.Size)
	}
	size := int64(f.Size)
	b.after(4).DefCFAOffset(size)
	b.save(x29, -size)
	b.save(x30, 8-size)
	b.after(4).DefCFARegister(x29)
	b.frame = x29
	b.saved(f)
	return b.end(f, func() {
		b.after(4).Restore(x29).Restore(x30).DefCFA(sp, 0)
		b.restore(f)
		b.authenticate(f)
	})
}

func fixedARM64(b *builder, f *Frame) (*cfi.Program, error) {
	if f.Size == 0 || f.Size%16 != 0 || f.Size > 0xfff && (f.Size%0x1000 != 0 || f.Size > 0xfff000) {
		return nil, refuse("a frame of %d bytes, which sub sp, sp, #%d cannot encode", f.Size, f.Size)
	}
	b.after(4).DefCFAOffset(int64(f.Size))
	b.saved(f)
	return b.end(f, func() {
		b.after(4).DefCFAOffset(0)
		b.restore(f)
		b.authenticate(f)
	})
}
