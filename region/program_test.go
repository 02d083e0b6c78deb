// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

// push is an amd64 push whose last byte is the unit when.
func push(when int32, register uint64) []region.Op {
	return []region.Op{region.Add(when, rsp, -8), region.SpillSPRel(when, register, 0)}
}

func join(lists ...[]region.Op) []region.Op { return slices.Concat(lists...) }

func one(o region.Op) []region.Op { return []region.Op{o} }

// procedures are procedures by their regions, with the rows of the call frame information that
// Program makes.
var procedures = []struct {
	name    string
	machine *arch.Machine
	size    uint64
	regions []*region.Region
	want    string // lines of rows; spaces around them are for the reader
}{
	{"no regions", amd64, 16, nil, `0: rsp+8 rip=[-8]`},
	{"no regions", arm64, 16, nil, `0: sp+0`},
	{"empty regions", amd64, 16, []*region.Region{ops(0), ops(16), ops(0)}, `0: rsp+8 rip=[-8]`},

	{"push and pop", amd64, 16, []*region.Region{
		ops(1, push(0, rbx)...), ops(-2, region.Add(0, rsp, 8)),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbx=[-16] rip=[-8]
		15: rsp+8 rip=[-8]`},

	{"an effect in the middle of an instruction", amd64, 16, []*region.Region{
		ops(16, region.Add(4, rsp, -24)), // sub rsp, 24 is 4 bytes long, the fourth is unit 3
	}, `
		0: rsp+8 rip=[-8]
		5: rsp+32 rip=[-8]`},

	{"frame pointer", amd64, 32, []*region.Region{
		ops(8, join(push(0, rbp), one(region.SaveReg(3, rsp, rbp)), one(region.Add(7, rsp, -64)))...),
		ops(16, region.SpillFPRel(3, rbx, -8), region.SpillFPRel(7, r12, -16)),
		ops(-2, region.PopFrames(0, 2)), // leave; ret
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]
		4: rbp+16 rbp=[-16] rip=[-8]
		12: rbp+16 rbx=[-24] rbp=[-16] rip=[-8]
		16: rbp+16 rbx=[-24] rbp=[-16] r12=[-32] rip=[-8]
		31: rsp+8 rip=[-8]`},

	{"lea and leave are two operations each", amd64, 32, []*region.Region{
		ops(32, join(
			push(0, rbp), one(region.Add(4, rsp, -48)),
			one(region.SaveReg(9, rsp, rbp)), one(region.Add(9, rbp, 32)), // lea rbp, [rsp+32]
			one(region.SpillFPRel(13, rbx, 0)),
			one(region.Add(13, rsp, -1024)),                                 // no call frame information: the CFA is rbp's
			one(region.SaveReg(20, rbp, rsp)), one(region.Add(20, rsp, 16)), // lea rsp, [rbp+16]
			one(region.Add(21, rsp, 8)), // pop rbp
		)...),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]
		5: rsp+64 rbp=[-16] rip=[-8]
		10: rbp+32 rbp=[-16] rip=[-8]
		14: rbp+32 rbx=[-32] rbp=[-16] rip=[-8]
		21: rbp+32 rbp=[-16] rip=[-8]
		22: rsp+8 rip=[-8]`},

	{"the red zone is not given back", amd64, 16, []*region.Region{
		ops(16, region.SpillSPRel(3, rbx, -16), region.Add(4, rsp, 0)),
	}, `
		0: rsp+8 rip=[-8]
		4: rsp+8 rbx=[-24] rip=[-8]`},

	{"unsorted", amd64, 16, []*region.Region{
		ops(16, join(one(region.PopFrames(9, 1)), one(region.SaveReg(3, rsp, rbp)), push(0, rbp))...),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]
		4: rbp+16 rbp=[-16] rip=[-8]
		10: rsp+8 rip=[-8]`},

	{"after stop", amd64, 16, []*region.Region{
		ops(16, region.Add(0, rsp, -8), region.Stop(), region.Add(99, 99, 1), region.Op{Tag: 77}),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rip=[-8]`},

	{"before the first instruction", amd64, 16, []*region.Region{
		ops(0, region.SaveReg(0, rip, rdx)), ops(16, region.Add(-1, rsp, 8)),
	}, `0: rsp+0 rip=rdx`},

	{"an effect of the last instruction has no row", amd64, 4, []*region.Region{
		ops(4, join(push(0, rbp), one(region.PopFrames(3, 1)))...),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]`},

	{"saved in registers, moved, and restored", amd64, 32, []*region.Region{
		ops(32, region.SaveReg(2, rbx, rax), region.SaveReg(5, rbx, r10), region.SaveReg(8, r10, rbx),
			region.SaveReg(11, r12, rbx), region.SpillSPRel(14, r12, -8)),
	}, `
		0: rsp+8 rip=[-8]
		3: rsp+8 rbx=rax rip=[-8]
		6: rsp+8 rbx=r10 rip=[-8]
		9: rsp+8 rip=[-8]
		12: rsp+8 rbx=undefined r12=rbx rip=[-8]
		15: rsp+8 rbx=undefined r12=[-16] rip=[-8]`},

	{"added to", amd64, 32, []*region.Region{
		ops(32, region.Add(0, rbx, 8), region.SaveReg(1, rbx, rax), region.Add(2, rax, 120),
			region.SaveReg(3, rax, rbx), region.Add(4, rbx, -128), region.Add(5, rax, 5)),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+8 rbx=(73 78) rip=[-8]
		2: rsp+8 rbx=(70 78) rip=[-8]
		3: rsp+8 rbx=(70 80 7f) rip=[-8]
		4: rsp+8 rbx=(73 80 7f) rip=[-8]
		5: rsp+8 rip=[-8]`},

	{"a frame pointer that nobody saved", amd64, 16, []*region.Region{
		ops(16, region.SaveReg(0, rsp, rbp)),
	}, `
		0: rsp+8 rip=[-8]
		1: rbp+8 rbp=undefined rip=[-8]`},
	{"a frame pointer that nobody wants", amd64, 16, []*region.Region{
		ops(16, region.SaveReg(0, rsp, r10), region.Add(1, rsp, -4096), region.SpillFPRel(2, rbx, -64)),
	}, `
		0: rsp+8 rip=[-8]
		1: r10+8 rip=[-8]
		3: r10+8 rbx=[-72] rip=[-8]`},

	{"pop_frames of nested prologues", amd64, 64, []*region.Region{
		ops(8, push(0, rbx)...),
		ops(8, region.SaveReg(2, r12, rdx)), // sets up no stack frame
		ops(8, region.Add(0, rsp, -16)),
		ops(8, region.PopFrames(1, 1), region.PopFrames(3, 1)),
		ops(8),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbx=[-16] rip=[-8]
		11: rsp+16 rbx=[-16] r12=rdx rip=[-8]
		17: rsp+32 rbx=[-16] r12=rdx rip=[-8]
		26: rsp+16 rbx=[-16] r12=rdx rip=[-8]
		28: rsp+8 r12=rdx rip=[-8]
		32: rsp+8 rip=[-8]`},

	{"an epilogue that first frees space sets up no frame", amd64, 32, []*region.Region{
		ops(8, join(push(0, rbp), push(1, rbx), one(region.Add(4, rsp, -24)))...),
		ops(-8, region.Add(3, rsp, 24), region.Add(4, rsp, 8), region.PopFrames(5, 1)),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]
		2: rsp+24 rbx=[-24] rbp=[-16] rip=[-8]
		5: rsp+48 rbx=[-24] rbp=[-16] rip=[-8]
		28: rsp+24 rbx=[-24] rbp=[-16] rip=[-8]
		29: rsp+16 rbp=[-16] rip=[-8]
		30: rsp+8 rip=[-8]`},

	{"code after an early return", amd64, 64, []*region.Region{
		ops(8, push(0, rbp)...),
		ops(8, region.LabelState(7), region.PopFrames(6, 1)),
		ops(16, region.CopyState(7), region.SaveReg(3, rsp, rbp)),
		ops(-1, region.PopFrames(0, 2)),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rbp=[-16] rip=[-8]
		15: rsp+8 rip=[-8]
		16: rsp+16 rbp=[-16] rip=[-8]
		20: rbp+16 rbp=[-16] rip=[-8]`},

	{"a label names what its list has come to", amd64, 64, []*region.Region{
		// libunwind's macro writes the label at -1, after the prologue; the operation
		// after it takes effect earlier and belongs to the labelled state.
		ops(8, region.Add(3, rsp, -32), region.LabelState(1), region.Add(0, rsp, -8), region.Add(4, rsp, -8)),
		ops(8, region.PopFrames(0, 1)),
		ops(8, region.CopyState(1)),
		ops(8, region.PopFrames(0, 1)),
		ops(0, region.CopyState(1), region.LabelState(2), region.Add(0, rsp, -8)),
		ops(8, region.PopFrames(0, 1)),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rip=[-8]
		4: rsp+48 rip=[-8]
		5: rsp+56 rip=[-8]
		9: rsp+8 rip=[-8]
		16: rsp+48 rip=[-8]
		25: rsp+8 rip=[-8]
		32: rsp+56 rip=[-8]
		33: rsp+48 rip=[-8]`},

	{"a label at an instruction, and copying at one", amd64, 32, []*region.Region{
		ops(32, region.Add(0, rsp, -8), region.Op{Tag: region.TagLabelState, When: 0, Value: 1},
			region.Add(1, rsp, -8), region.Op{Tag: region.TagCopyState, When: 8, Value: 1}),
	}, `
		0: rsp+8 rip=[-8]
		1: rsp+16 rip=[-8]
		2: rsp+24 rip=[-8]
		9: rsp+16 rip=[-8]`},

	{"stp and ldp", arm64, 32, []*region.Region{
		ops(2, region.Add(0, sp, -32), region.SpillSPRel(0, x29, 0), region.SpillSPRel(0, x30, 8),
			region.SaveReg(1, sp, x29)),
		ops(1, region.SpillFPRel(0, x19, 16)),
		ops(-2, region.Add(0, sp, 32)), // ldp x29, x30, [sp], 32; ret
	}, `
		0: sp+0
		4: sp+32 x29=[-32] x30=[-24]
		8: x29+32 x29=[-32] x30=[-24]
		12: x29+32 x19=[-16] x29=[-32] x30=[-24]
		28: sp+0`},

	{"a leaf that keeps its return address in a register", arm64, 16, []*region.Region{
		ops(4, region.SaveReg(0, x30, x9)),
	}, `
		0: sp+0
		4: sp+0 x30=x9`},

	{"pop_frames", arm64, 64, []*region.Region{
		ops(4, region.Add(0, sp, -48), region.SpillSPRel(1, x30, 40), region.SaveReg(2, x19, x9)),
		ops(0, region.LabelState(1)),
		ops(4, region.PopFrames(1, 1)),
		ops(0, region.CopyState(1)),
		ops(-3, region.PopFrames(1, 1)),
	}, `
		0: sp+0
		4: sp+48
		8: sp+48 x30=[-8]
		12: sp+48 x19=x9 x30=[-8]
		24: sp+0 x19=x9
		32: sp+48 x19=x9 x30=[-8]
		60: sp+0 x19=x9`},
}

func TestProgram(t *testing.T) {
	for _, test := range procedures {
		t.Run(test.machine.Name+" "+test.name, func(t *testing.T) {
			p, err := procedure(test.size, test.regions...).Program(test.machine)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(test.want), "\n")
			for i := range want {
				want[i] = strings.TrimSpace(want[i])
			}
			if got := rows(t, p, test.machine, test.size); got != strings.Join(want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func TestShared(t *testing.T) {
	epilogue := ops(-2, region.PopFrames(0, 1))
	framed := ops(4, join(push(0, rbp), one(region.SaveReg(3, rsp, rbp)))...)
	plain := ops(1, push(0, rbp)...)
	framed.Next, plain.Next = epilogue, epilogue
	for _, test := range []struct {
		size uint64
		list *region.Region
		want string
	}{
		{8, framed, "0: rsp+8 rip=[-8]\n1: rsp+16 rbp=[-16] rip=[-8]\n4: rbp+16 rbp=[-16] rip=[-8]\n7: rsp+8 rip=[-8]"},
		{4096, framed, "0: rsp+8 rip=[-8]\n1: rsp+16 rbp=[-16] rip=[-8]\n4: rbp+16 rbp=[-16] rip=[-8]\n4095: rsp+8 rip=[-8]"},
		{6, framed, "0: rsp+8 rip=[-8]\n1: rsp+16 rbp=[-16] rip=[-8]\n4: rbp+16 rbp=[-16] rip=[-8]\n5: rsp+8 rip=[-8]"},
		{9, plain, "0: rsp+8 rip=[-8]\n1: rsp+16 rbp=[-16] rip=[-8]\n8: rsp+8 rip=[-8]"},
		{2, epilogue, ""}, // no frame to pop
		{5, framed, ""},   // they overlap
	} {
		p, err := (&region.Procedure{End: test.size, Regions: test.list}).Program(amd64)
		if err != nil {
			if test.want != "" {
				t.Errorf("%d bytes: %v", test.size, err)
			}
			continue
		}
		if got := rows(t, p, amd64, test.size); got != test.want {
			t.Errorf("%d bytes: got\n%s\nwant\n%s", test.size, got, test.want)
		}
	}
}

func TestAlias(t *testing.T) {
	original := &region.Procedure{Name: "original", Start: 0x1000, End: 0x1040, Regions: region.List(
		ops(8, join(push(0, rbp), one(region.SaveReg(3, rsp, rbp)))...),
		ops(-4, region.PopFrames(1, 1)),
	)}
	other := &region.Procedure{Name: "other", Start: 0x2000, End: 0x2040, Regions: ops(16, region.Alias(-1, 0x1000))}
	for _, test := range []struct {
		name    string
		size    uint64
		regions []*region.Region
		want    string
	}{
		{"a whole copy", 64, []*region.Region{ops(64, region.Alias(-1, 0x1000))}, `
			0: rsp+8 rip=[-8]
			1: rsp+16 rbp=[-16] rip=[-8]
			4: rbp+16 rbp=[-16] rip=[-8]
			62: rsp+8 rip=[-8]`},
		{"a part, and going on from it", 64, []*region.Region{
			ops(4, region.Add(3, rsp, -8)),
			ops(8, region.Alias(-1, 0x1002)),
			ops(8, region.Add(3, rsp, -128), region.SpillFPRel(7, rbx, -64)),
			ops(8, region.PopFrames(0, 2)),
		}, `
			0: rsp+8 rip=[-8]
			4: rsp+16 rbp=[-16] rip=[-8]
			6: rbp+16 rbp=[-16] rip=[-8]
			20: rbp+16 rbx=[-80] rbp=[-16] rip=[-8]
			21: rsp+8 rip=[-8]`},
		{"from an instruction on", 64, []*region.Region{
			ops(60, region.Add(0, rsp, -16), region.Alias(1, 0x1000)),
		}, `
			0: rsp+8 rip=[-8]
			1: rsp+24 rip=[-8]
			2: rsp+16 rbp=[-16] rip=[-8]
			4: rbp+16 rbp=[-16] rip=[-8]`},
		{"of a copy", 64, []*region.Region{ops(8, region.Alias(-1, 0x2001))}, `
			0: rsp+16 rbp=[-16] rip=[-8]
			3: rbp+16 rbp=[-16] rip=[-8]`},
		{"an empty region", 64, []*region.Region{ops(0, region.Alias(0, 0x1010))}, `
			0: rbp+16 rbp=[-16] rip=[-8]`},
		{"of its own beginning", 64, []*region.Region{
			ops(8, push(0, rbx)...), ops(8, region.PopFrames(0, 1)), ops(16, region.Alias(-1, 0x8000)),
		}, `
			0: rsp+8 rip=[-8]
			1: rsp+16 rbx=[-16] rip=[-8]
			9: rsp+8 rip=[-8]
			17: rsp+16 rbx=[-16] rip=[-8]
			25: rsp+8 rip=[-8]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := procedure(test.size, test.regions...)
			f.Start, f.End = 0x8000, 0x8000+test.size
			p, err := f.Program(amd64, original, other)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(test.want), "\n")
			for i := range want {
				want[i] = strings.TrimSpace(want[i])
			}
			if got := rows(t, p, amd64, test.size); got != strings.Join(want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func TestHandler(t *testing.T) {
	f := procedure(16)
	f.Handler = 0x123456789a
	p, err := f.Program(amd64)
	if err != nil {
		t.Fatal(err)
	}
	e := cfi.Encoder{Machine: amd64}
	if err := e.Program(p, codeAt, 16); err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Data: e.Data, Machine: amd64}
	cie, err := s.CIEAt(0)
	if err != nil {
		t.Fatal(err)
	}
	if cie.Personality.Address != f.Handler || cie.Personality.Indirect {
		t.Errorf("the personality routine is %+v, want %#x", cie.Personality, f.Handler)
	}
	plain, err := procedure(16).Program(amd64)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := procedure(32).Program(amd64); err != nil || again.CIE != plain.CIE || plain.CIE.PersonalityEnc != cfi.EncOmit {
		t.Errorf("procedures without a handler share no CIE: %v", err)
	}
}

func TestTableFind(t *testing.T) {
	table := region.Table{Entries: []region.TableEntry{{-16, 1}, {0, 2}, {0x40, 3}}}
	for offset, want := range map[int64]int32{-17: 0, -16: 1, -1: 1, 0: 2, 0x3f: 2, 0x40: 3, 1 << 40: 3, -1 << 40: 0} {
		e, ok := table.Find(offset)
		if ok != (want != 0) || e.FDE != want {
			t.Errorf("Find(%#x) = %v, %v, want FDE %d", offset, e, ok, want)
		}
	}
}

func TestAfter(t *testing.T) {
	if got := [...]int32{region.After(amd64, 0), region.After(amd64, 4), region.After(amd64, 1<<32), region.After(arm64, 0), region.After(arm64, 8)}; got != [...]int32{-1, 3, 1<<31 - 2, -1, 1} {
		t.Errorf("got %v", got)
	}
}

func TestOpString(t *testing.T) {
	for want, o := range map[string]region.Op{
		"stop":                     region.Stop(),
		"save_reg r7 in r6 at 3":   region.SaveReg(3, rsp, rbp),
		"spill_fp_rel r3 -8 at 1":  region.SpillFPRel(1, rbx, -8),
		"spill_sp_rel r3 +16 at 1": region.SpillSPRel(1, rbx, 16),
		"add r7 -24 at 4":          region.Add(4, rsp, -24),
		"pop_frames 2 at 0":        region.PopFrames(0, 2),
		"label_state 5 at -1":      region.LabelState(5),
		"copy_state 5 at -1":       region.CopyState(5),
		"alias 0x1000 at -1":       region.Alias(-1, 0x1000),
		"Tag(99) 1 at 2":           {Tag: 99, When: 2, Value: 1},
	} {
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
