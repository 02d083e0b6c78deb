// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe_test

import (
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind/internal/codeframe"
)

// The frames at the calls in a library agree with its call frame information. Functions that
// do not start with the return address on top, such as parts that compilers have moved, are
// not compared.
func TestFramesEqualCFI(t *testing.T) {
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"} {
		f, err := object.Open(path)
		if err != nil {
			t.Logf("%s: %v", path, err)
			continue
		}
		section, err := f.EHFrame()
		if err != nil || section == nil {
			t.Fatal(path, err)
		}
		var x cfi.Interpreter
		var calls, same, unknown, wrong int
		n := 0
		for fde := range section.FDEs() {
			if n++; n%8 != 0 || fde.End-fde.Start > 1<<14 {
				continue
			}
			first, err := x.RowAt(fde, fde.Start)
			if err != nil || first.CFA != (cfi.Rule{Kind: cfi.Register, Register: 7, Offset: 8}) {
				continue
			}
			code := make([]byte, fde.End-fde.Start)
			if err := f.ReadMemory(code, fde.Start); err != nil {
				continue
			}
			for at := 0; at < len(code); {
				i, err := x86asm.Decode(code[at:], 64)
				if err != nil {
					break
				}
				at += i.Len
				if i.Op != x86asm.CALL {
					continue
				}
				row, err := x.RowAt(fde, fde.Start+uint64(at-1))
				if err != nil || row.CFA.Kind != cfi.Register {
					continue
				}
				calls++
				frame, _, ok := codeframe.Find(code, at, true)
				if !ok {
					unknown++
					continue
				}
				if uint32(frame.CFA) != row.CFA.Register || frame.Zeroed {
					continue // the same CFA by another register
				}
				if frame.Offset != row.CFA.Offset {
					wrong++
					t.Logf("%#x of %#x: the CFA is at %d, the table has %d", at, fde.Start, frame.Offset, row.CFA.Offset)
					continue
				}
				same++
				want := map[int]int64{}
				for _, r := range row.Registers {
					if c := r.Column; r.Kind == cfi.Offset && (c == 3 || c == 6 || c >= 12 && c < 16) {
						want[int(c)] = r.Offset
					}
				}
				for _, s := range frame.Saved {
					if o, ok := want[s.Column]; !s.Lost && (!ok || o != s.Offset) {
						wrong++
						t.Logf("%#x of %#x: column %d at %d, the table has %d, %v", at, fde.Start, s.Column, s.Offset, o, ok)
					}
					delete(want, s.Column)
				}
				if len(want) > 0 {
					wrong++
					t.Logf("%#x of %#x: without columns at %v", at, fde.Start, want)
				}
			}
		}
		t.Logf("%s: %d calls, %d same, %d unknown", path, calls, same, unknown)
		// Moved parts of functions can start like functions.
		if wrong > calls/500 {
			t.Errorf("%s: %d frames differ", path, wrong)
		}
	}
}
