// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
)

// rowsOf returns the rows of a program for code at address 0: the offset, the CFA, and the
// registers that are saved.
func rowsOf(t *testing.T, m *arch.Machine, p *cfi.Program, size uint64) (rows []string) {
	t.Helper()
	e := cfi.Encoder{Machine: m, Address: 0x1000}
	if err := e.Program(p, 0, size); err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Name: ".eh_frame", Machine: m, Address: e.Address, Data: e.Data}
	var x cfi.Interpreter
	for f := range s.FDEs() {
		for row := range x.Rows(f) {
			text := fmt.Sprintf("%d", row.Start)
			switch row.CFA.Kind {
			case cfi.Register:
				text += fmt.Sprintf(" %s%+d", m.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
			default:
				for o, err := range s.Operations(uint64(row.CFA.Offset), uint64(row.CFA.Register)) {
					if err != nil {
						t.Fatal(err)
					}
					text += fmt.Sprintf(" %s", strings.TrimPrefix(o.Op.String(), "DW_OP_"))
					for i := range o.Op.Operands() {
						text += fmt.Sprintf(":%d", o.Operands[i])
					}
				}
			}
			for _, r := range row.Registers {
				if r.Kind == cfi.Offset {
					text += fmt.Sprintf(" %s@%d", m.RegisterName(uint64(r.Column)), r.Offset)
				}
			}
			rows = append(rows, text)
		}
		if err := x.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func TestRanges(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		make    func(m *arch.Machine) (*cfi.Program, error)
		want    []string
	}{
		{"an entry that changes stacks", amd64, func(m *arch.Machine) (*cfi.Program, error) {
			return preset.Fixed(m, preset.Frame{Pushed: []uint64{15}, Epilogues: []preset.Epilogue{{Start: 40}},
				Ranges: []preset.Range{{Start: 10, End: 20, Base: 15, Path: []int64{0x40, 16}}, {Start: 24, End: 30, Base: 7, Path: []int64{8, -8, 16}}}})
		}, []string{"0 rsp+8 rip@-8", "2 rsp+16 r15@-16 rip@-8", "10 breg15:64 deref plus_uconst:16 r15@-16 rip@-8", "20 rsp+16 r15@-16 rip@-8",
			"24 breg7:8 deref consts:-8 plus deref plus_uconst:16 r15@-16 rip@-8", "30 rsp+16 r15@-16 rip@-8", "42 rsp+8 rip@-8"}},
		{"a trap that leaves a frame whose frame pointer is overwritten", amd64, func(m *arch.Machine) (*cfi.Program, error) {
			return preset.FramePointer(m, preset.Frame{Pushed: []uint64{3}, Epilogues: []preset.Epilogue{{Start: 20, End: 23}},
				Ranges: []preset.Range{{Start: 30, End: 34, Base: 0, Path: []int64{0x40, 8}, Left: true}, {Start: 34, Base: 7, Path: []int64{8}, Left: true}}})
		}, []string{"0 rsp+8 rip@-8", "1 rsp+16 rbp@-16 rip@-8", "4 rbp+16 rbp@-16 rip@-8", "5 rbp+16 rbx@-24 rbp@-16 rip@-8",
			"20 rbp+16 rbx@-24 rbp@-16 rip@-8", "21 rbp+16 rbp@-16 rip@-8", "22 rsp+8 rip@-8", "23 rbp+16 rbx@-24 rbp@-16 rip@-8",
			"30 breg0:64 deref plus_uconst:8 rip@-8", "34 rsp+8 rip@-8"}},
		{"arm64: a frame pointer, and a stack that is changed", arm64, func(m *arch.Machine) (*cfi.Program, error) {
			return preset.FramePointer(m, preset.Frame{Size: 32, Saved: []preset.Saved{{19, -16}}, Prologue: 12, Epilogues: []preset.Epilogue{{Start: 40}},
				Ranges: []preset.Range{{Start: 20, End: 32, Base: 19, Path: []int64{0, 32}}}})
		}, []string{"0 sp+0", "4 sp+32 x29@-32 x30@-24", "8 x29+32 x29@-32 x30@-24", "12 x29+32 x19@-16 x29@-32 x30@-24",
			"20 breg19:0 deref plus_uconst:32 x19@-16 x29@-32 x30@-24", "32 x29+32 x19@-16 x29@-32 x30@-24", "44 sp+0"}},
		{"arm64: wazero's frames, and a trap", arm64, func(m *arch.Machine) (*cfi.Program, error) {
			return preset.Sized(m, preset.Frame{Ranges: []preset.Range{{Start: 40, End: 48, Base: 31, Path: []int64{0}, Left: true}}}, []preset.Step{
				{4, 32, nil, nil}, {12, 48, []preset.Saved{{30, -48}}, nil}, {16, 112, nil, nil},
				{76, 48, nil, nil}, {80, 32, nil, []uint64{30}}, {84, 0, nil, nil}})
		}, []string{"0 sp+0", "4 sp+32", "12 sp+48 x30@-48", "16 sp+112 x30@-48", "40 sp+0", "48 sp+112 x30@-48", "76 sp+48 x30@-48", "80 sp+32", "84 sp+0"}},
	} {
		p, err := test.make(test.machine)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := rowsOf(t, test.machine, p, 100); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

func TestRangesRefuse(t *testing.T) {
	path := []int64{8}
	for name, test := range map[string]struct {
		frame preset.Frame
		says  string
	}{
		"no path":     {preset.Frame{Ranges: []preset.Range{{Start: 8, End: 12}}}, "without a Path"},
		"no end":      {preset.Frame{Ranges: []preset.Range{{Start: 8, Path: path}, {Start: 16, Path: path}}}, "needs an End"},
		"backwards":   {preset.Frame{Ranges: []preset.Range{{Start: 8, End: 8, Path: path}}}, "that ends at"},
		"overlap":     {preset.Frame{Ranges: []preset.Range{{Start: 8, End: 12, Path: path}, {Start: 10, Path: path}}}, "before the end"},
		"prologue":    {preset.Frame{Ranges: []preset.Range{{Start: 2, End: 12, Path: path}}}, "before the end"},
		"epilogue":    {preset.Frame{Ranges: []preset.Range{{Start: 8, End: 21, Path: path}}, Epilogues: []preset.Epilogue{{Start: 20}}}, "an epilogue at"},
		"saved":       {preset.Frame{Ranges: []preset.Range{{Start: 8, Path: path, Saved: []preset.Saved{{3, -16}}}}}, "not Left"},
		"bad column":  {preset.Frame{Ranges: []preset.Range{{Start: 8, Base: 99, Path: path}}}, "the Base 99, which is not a column of x86-64"},
		"no register": {preset.Frame{Ranges: []preset.Range{{Start: 8, Path: path, Left: true, Saved: []preset.Saved{{3, -4}}}}}, "outside of the frame"},
	} {
		p, err := preset.FramePointer(amd64, test.frame)
		if err == nil || p != nil || !strings.Contains(err.Error(), test.says) || !errors.Is(err, cfi.ErrRange) && !errors.Is(err, cfi.ErrUse) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	if _, err := preset.Sized(amd64, preset.Frame{Size: 8}, nil); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
	if _, err := preset.Sized(amd64, preset.Frame{}, []preset.Step{{8, 16, nil, nil}, {4, 8, nil, nil}}); !errors.Is(err, cfi.ErrRange) {
		t.Error(err)
	}
	signed := preset.Frame{Signed: true, Ranges: []preset.Range{{Start: 16, Base: 31, Path: []int64{0}, Left: true}}}
	if _, err := preset.FramePointer(arm64, signed); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
}
