// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

func TestBuilderWritesCPython(t *testing.T) {
	program, err := cfi.NewBuilder(cfi.EntryCIE(x86)).
		At(1).DefCFAOffset(16).Offset(6, -16).
		At(4).DefCFARegister(6).
		At(0x10).DefCFA(7, 8).Program()
	if err != nil {
		t.Fatal(err)
	}
	e := cfi.Encoder{Machine: x86, Address: 0x60}
	if err := e.Program(program, 0, 0x40); err != nil {
		t.Fatal(err)
	}
	const want = "1400000000000000017a5200017810011b0c070890010000" +
		"1c0000001c00000080ffffff4000000000410e108602430d064c0c0708000000"
	if got := hex.EncodeToString(e.Data); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestBuilderInstructions(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func(*cfi.Builder)
		want  string // bytes, or the error
	}{
		{"no instruction", func(b *cfi.Builder) {}, ""},
		{"advances are as short as they can be", func(b *cfi.Builder) {
			b.At(0x3f).SameValue(3).At(0x7f).SameValue(3).At(0x17f).SameValue(3).At(0x1017f).SameValue(3)
		}, "7f0803 02400803 0300010803 04000001000803"},
		{"an advance without a rule is not written", func(b *cfi.Builder) { b.At(4).At(8).SameValue(3).At(12) }, "480803"},
		{"adjust", func(b *cfi.Builder) {
			b.AdjustCFAOffset(8).RememberState().AdjustCFAOffset(8).RestoreState().AdjustCFAOffset(8)
		},
			"0e10 0a 0e18 0b 0e18"},
		{"signed", func(b *cfi.Builder) { b.DefCFA(7, -8).DefCFAOffset(-16).Offset(3, 8).ValOffset(3, 8).ValOffset(3, -8) },
			"120701 1302 11037f 15037f 140301"},
		{"a register beyond six bits", func(b *cfi.Builder) { b.Offset(70, -16).Restore(70).Restore(3) }, "054602 0646 c3"},
		{"expressions", func(b *cfi.Builder) {
			b.DefCFAExpression([]byte{0x77, 8}).Expression(3, []byte{0x23, 8}).ValExpression(3, []byte{0x23, 8}).Register(3, 12)
		}, "0f027708 1003022308 1603022308 09030c"},
		{"undefined, arguments", func(b *cfi.Builder) { b.Undefined(16).ArgumentsSize(32) }, "0710 2e20"},
		{"raw", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFADefCFA, Register: 3, Operand: 300}) }, "0c03ac02"},

		{"raw advances", func(b *cfi.Builder) {
			b.At(2).Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 4}).At(5).SameValue(3).
				Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc4, Operand: 1}).SameValue(3)
		}, "44 410803 04010000000803"},
		{"a raw CFA", func(b *cfi.Builder) {
			b.Instruction(cfi.Instruction{Op: cfi.CFALLVMDefAspaceCFA, Register: 7, Operand: 8, Register2: 1}).AdjustCFAOffset(8)
		}, "30070801 0e10"},

		{"a raw advance that goes back", func(b *cfi.Builder) { b.At(4).Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 3}) },
			"+0x4: value out of range: DW_CFA_advance_loc(3) from +0x0"},
		{"a raw advance that does not fit", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 64}) },
			"unwind table+0x0: value out of range: DW_CFA_advance_loc: 64 does not fit six bits"},
		{"a column that no reader takes", func(b *cfi.Builder) { b.Offset(1<<32, -8) },
			"+0x0: value out of range: DW_CFA_offset_extended of column 4294967296"},
		{"another one", func(b *cfi.Builder) { b.Register(3, 1<<32) }, "+0x0: value out of range: DW_CFA_register of column 4294967296"},
		{"too many states", func(b *cfi.Builder) {
			for range 257 {
				b.RememberState()
			}
		}, "+0x0: invalid use: more than 256 states are remembered"},
		{"a raw restore without remember", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFARestoreState}) },
			"+0x0: invalid use: RestoreState without a RememberState"},
		{"an expression truncated", func(b *cfi.Builder) { b.At(1).ValExpression(3, []byte{0x77}) },
			"+0x1: DW_CFA_val_expression+0x1: truncated: no byte is left, expected 1"},
		{"an expression that is none", func(b *cfi.Builder) { b.DefCFAExpression([]byte{0x05}) },
			"+0x0: DW_CFA_def_cfa_expression+0x0: invalid expression: unknown operation 0x05"},
		{"a raw operation that is none", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: 0x3f}) },
			"unwind table+0x0: invalid instruction: unknown operation 0x3f"},
		{"far beyond", func(b *cfi.Builder) { b.At(1 << 33).SameValue(3) },
			"+0x200000000: value out of range: an advance of 0x200000000 bytes from +0x0"},
		{"backwards", func(b *cfi.Builder) { b.At(4).SameValue(3).At(3) }, "+0x4: value out of range: At(0x3) after At(0x4)"},
		{"a slot that is not a multiple", func(b *cfi.Builder) { b.Offset(3, -12) },
			"+0x0: value out of range: Offset(-12) is not a multiple of the data alignment factor -8"},
		{"restore without remember", func(b *cfi.Builder) { b.RestoreState() }, "+0x0: invalid use: RestoreState without a RememberState"},
		{"register of an expression", func(b *cfi.Builder) { b.DefCFAExpression([]byte{0x30}).DefCFARegister(6) },
			"+0x0: invalid use: DefCFARegister, but the CFA is not a register's value plus an offset"},
		{"an offset that overflows", func(b *cfi.Builder) { b.DefCFAOffset(math.MaxInt64 - 7).AdjustCFAOffset(8) },
			"+0x0: value out of range: AdjustCFAOffset(8) of an offset of 9223372036854775800"},
		{"a CFA of no expression", func(b *cfi.Builder) { b.DefCFAExpression(nil) },
			"+0x0: invalid use: an empty DW_CFA_def_cfa_expression, which has no result"},
		{"a raw window on amd64", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFAGNUWindowSave}) },
			"+0x0: invalid use: DW_CFA_GNU_window_save on x86-64"},
		{"signed on amd64", func(b *cfi.Builder) { b.NegateRAState() }, "+0x0: invalid use: NegateRAState on x86-64"},
		{"the first error stays", func(b *cfi.Builder) { b.Offset(3, -12).RestoreState() },
			"+0x0: value out of range: Offset(-12) is not a multiple of the data alignment factor -8"},
		{"raw set_loc", func(b *cfi.Builder) { b.Instruction(cfi.Instruction{Op: cfi.CFASetLoc}) },
			"+0x0: invalid use: Instruction(DW_CFA_set_loc), expected At"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := cfi.NewBuilder(cfi.EntryCIE(x86))
			test.build(b)
			program, err := b.Program()
			if err != nil {
				if !errors.Is(err, cfi.ErrRange) && !errors.Is(err, cfi.ErrUse) && !strings.Contains(test.want, "invalid ") && !strings.Contains(test.want, "truncated") {
					t.Errorf("%v is not ErrRange", err)
				}
				if got := strings.TrimPrefix(err.Error(), "unwind table: "); got != test.want {
					t.Errorf("\n got %s\nwant %s", got, test.want)
				}
				return
			}
			if got, want := hex.EncodeToString(program.Instructions), strings.ReplaceAll(test.want, " ", ""); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestBuilderFactorsCode(t *testing.T) {
	b := cfi.NewBuilder(cfi.EntryCIE(arm64)).At(4).DefCFAOffset(16).Offset(29, -16).Offset(30, -8).At(8).NegateRAState()
	program, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(program.Instructions); got != "410e109d029e01412d" || program.End != 8 {
		t.Errorf("%s, end %#x", got, program.End)
	}
	if _, err := b.At(10).Program(); !errors.Is(err, cfi.ErrRange) {
		t.Errorf("an offset without an instruction: %v", err)
	}
}

func TestBuilderWithoutCFA(t *testing.T) {
	b := cfi.NewBuilder(cfi.NewCIE(x86)).Instruction(cfi.Instruction{Op: cfi.CFADefCFAOffset, Operand: 8})
	if p, err := b.Program(); !errors.Is(err, cfi.ErrUse) {
		t.Errorf("an offset of no register: %v, %v", p, err)
	}
}

func TestEntryCIE(t *testing.T) {
	for _, test := range []struct {
		machine elf.Machine
		class   elf.Class
		data    elf.Data
		want    string
	}{
		{elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB, "0c07089001"},
		{elf.EM_X86_64, elf.ELFCLASS32, elf.ELFDATA2LSB, "0c07089001"}, // x32 pushes eight bytes too
		{elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB, "0c04048801"},
		{elf.EM_68K, elf.ELFCLASS32, elf.ELFDATA2MSB, "0c0f049801"},
		{elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB, "0c1f00"},
		{elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB, "0c0fa001"},
		{elf.EM_SPARCV9, elf.ELFCLASS64, elf.ELFDATA2MSB, "0c0eff0f"},
	} {
		m := arch.Lookup(test.machine, test.class, test.data)
		if got := hex.EncodeToString(cfi.EntryCIE(m).Instructions); got != test.want {
			t.Errorf("%s: %s, want %s", m.Name, got, test.want)
		}
	}
}

func TestBuilderSteadyState(t *testing.T) {
	steady, err := cfi.NewBuilder(cfi.NewCIE(x86)).DefCFA(6, 16).Offset(6, -16).Offset(16, -8).CIE()
	if err != nil {
		t.Fatal(err)
	}
	steady.Augmentation, steady.PointerEncoding = "zR", cfi.EncAbsptr
	program, err := cfi.NewBuilder(steady).Program()
	if err != nil {
		t.Fatal(err)
	}
	e := cfi.Encoder{Machine: x86}
	if err := e.Program(program, 0x7f0012340000, 0x40); err != nil {
		t.Fatal(err)
	}
	const want = "140000000000000001" + "7a52000178100100" + "0c06108602" + "9001" +
		"1c0000001c0000000000341200" + "7f00004000000000000000" + "00" + "00000000000000"
	if got := hex.EncodeToString(e.Data); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if _, err := cfi.NewBuilder(steady).At(4).SameValue(3).CIE(); !errors.Is(err, cfi.ErrUse) {
		t.Errorf("a CIE with an advance: %v", err)
	}
	if _, err := cfi.NewBuilder(steady).Restore(3).CIE(); !errors.Is(err, cfi.ErrUse) {
		t.Errorf("a CIE that restores: %v", err)
	}
	long := cfi.NewBuilder(steady)
	for range 600 {
		long.SameValue(3)
	}
	if _, err := long.CIE(); !errors.Is(err, cfi.ErrRange) {
		t.Errorf("a CIE longer than an Interpreter takes: %v", err)
	}
	// The FDE does not restore a state that the CIE remembered.
	remembers, err := cfi.NewBuilder(steady).RememberState().CIE()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfi.NewBuilder(remembers).RestoreState().Program(); !errors.Is(err, cfi.ErrUse) {
		t.Errorf("an FDE that restores its CIE's state: %v", err)
	}
}
