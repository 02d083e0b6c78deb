// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
)

// FuzzPresets makes any frame. The result is a table that covers the whole function, or
// an error.
func FuzzPresets(f *testing.F) {
	f.Add(uint8(0), true, false, uint16(0), uint64(16), []byte{4, 12, 3}, []byte{8, 16})
	f.Add(uint8(1), false, true, uint16(12), uint64(32), []byte{}, []byte{20, 32, 40, 0})
	f.Add(uint8(2), true, false, uint16(20), uint64(0x80), []byte{6}, []byte{40, 0})
	f.Add(uint8(5), true, true, uint16(0), uint64(0), []byte{}, []byte{12, 24})
	f.Fuzz(func(t *testing.T, which uint8, landing, signed bool, prologue uint16, size uint64, pushed, epilogues []byte) {
		m := []*arch.Machine{amd64, arm64}[which&1]
		frame := preset.Frame{Landing: landing, Signed: signed, Prologue: uint64(prologue), Size: size}
		for _, register := range pushed {
			frame.Pushed = append(frame.Pushed, uint64(register))
		}
		if prologue > 0 {
			frame.Saved = []preset.Saved{{Register: uint64(which), Slot: -int64(prologue)}}
		}
		for ; len(epilogues) >= 2; epilogues = epilogues[2:] {
			frame.Epilogues = append(frame.Epilogues, preset.Epilogue{Start: uint64(epilogues[0]), End: uint64(epilogues[1])})
		}
		makers := []func(*arch.Machine, preset.Frame) (*cfi.Program, error){preset.FramePointer, preset.Fixed, preset.Leaf}
		p, err := makers[int(which>>1)%3](m, frame)
		if err != nil {
			if !errors.Is(err, cfi.ErrRange) && !errors.Is(err, cfi.ErrUse) || p != nil {
				t.Errorf("%v, %v", p, err)
			}
			return
		}
		const start = 0x1000
		code := p.End + 1
		e := cfi.Encoder{Machine: m, Address: 0x400000}
		if err := e.Program(p, start, code); err != nil {
			t.Fatal(err)
		}
		s := &cfi.Section{Name: "written", Data: e.Data, Address: e.Address, Machine: m}
		var x cfi.Interpreter
		for fde := range s.FDEs() {
			next := uint64(start)
			for row := range x.Rows(fde) {
				if row.Start != next || row.CFA.Kind != cfi.Register || row.CFA.Offset < 0 {
					t.Errorf("row [%#x, %#x), CFA %+v", row.Start, row.End, row.CFA)
				}
				next = row.End
			}
			if x.Err() != nil || next != start+code {
				t.Errorf("rows to %#x, %v", next, x.Err())
			}
		}
	})
}
