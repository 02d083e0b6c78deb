// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// usual is what a CIE of x86-64 sets: CFA = r7+8, r16 at CFA-8.
const usual = "0c0708 9001"

var instructionTests = []struct {
	name         string
	machine      *arch.Machine // nil: x86-64
	instructions string
	rows         string // one row a line; a dash stands for "cfa=r7+8 r16=[cfa-8]"
}{
	{"nothing", nil, "", "10000-10100 -"},
	{"nop", nil, "00 00 00", "10000-10100 -"},
	{"set_loc", nil, "01 2000010000000000", "10000-10020 -; 10020-10100 -"},
	{"advance_loc", nil, "41 0e10 42", "10000-10004 -; 10004-1000c cfa=r7+16 r16=[cfa-8]; 1000c-10100 cfa=r7+16 r16=[cfa-8]"},
	{"advance_loc by 0", nil, "40 0e10", "10000-10100 cfa=r7+16 r16=[cfa-8]"},
	{"advance_loc1", nil, "02 3f", "10000-100fc -; 100fc-10100 -"},
	{"advance_loc2", nil, "03 0200", "10000-10008 -; 10008-10100 -"},
	{"advance_loc4", nil, "04 03000000", "10000-1000c -; 1000c-10100 -"},
	{"MIPS_advance_loc8", nil, "1d 0400000000000000", "10000-10010 -; 10010-10100 -"},
	{"big-endian advances", s390x, "02 01 03 0002 04 00000001 1d 0000000000000001",
		"10000-10004 -; 10004-1000c -; 1000c-10010 -; 10010-10014 -; 10014-10100 -"},
	{"advance to the end", nil, "7f 41 0e10", "10000-100fc -; 100fc-10100 -"},

	{"def_cfa", nil, "0c 06 10", "10000-10100 cfa=r6+16 r16=[cfa-8]"},
	{"def_cfa is not factored", nil, "0c 06 8001", "10000-10100 cfa=r6+128 r16=[cfa-8]"},
	{"def_cfa_sf is factored", nil, "12 06 7e", "10000-10100 cfa=r6+16 r16=[cfa-8]"},
	{"def_cfa_register", nil, "0d 06", "10000-10100 cfa=r6+8 r16=[cfa-8]"},
	{"def_cfa_offset", nil, "0e 7f", "10000-10100 cfa=r7+127 r16=[cfa-8]"},
	{"def_cfa_offset of two bytes", nil, "0e 8088 01 41", "10000-10004 cfa=r7+17408 r16=[cfa-8]; 10004-10100 cfa=r7+17408 r16=[cfa-8]"},
	{"def_cfa_offset of three bytes", nil, "0e 80808001", "10000-10100 cfa=r7+2097152 r16=[cfa-8]"},
	{"def_cfa_offset_sf is factored", nil, "13 7e", "10000-10100 cfa=r7+16 r16=[cfa-8]"},
	{"def_cfa_expression", nil, "0f 03 7670 06", "10000-10100 cfa=(767006) r16=[cfa-8]"},
	{"def_cfa_register after an expression has the offset from before it", nil,
		"0f 02 7600 41 0d 06", "10000-10004 cfa=(7600) r16=[cfa-8]; 10004-10100 cfa=r6+8 r16=[cfa-8]"},
	{"def_cfa_offset after an expression waits for a register", nil,
		"0f 02 7600 0e 20 41 0d 06", "10000-10004 cfa=(7600) r16=[cfa-8]; 10004-10100 cfa=r6+32 r16=[cfa-8]"},
	{"def_cfa_offset_sf after an expression", nil,
		"0f 02 7600 13 7c 41 0d 06", "10000-10004 cfa=(7600) r16=[cfa-8]; 10004-10100 cfa=r6+32 r16=[cfa-8]"},
	{"two expressions", nil,
		"0f 02 7600 0f 02 7601 41 0d 06", "10000-10004 cfa=(7601) r16=[cfa-8]; 10004-10100 cfa=r6+8 r16=[cfa-8]"},
	{"LLVM_def_aspace_cfa", nil, "30 06 10 05", "10000-10100 cfa=r6+16 r16=[cfa-8]"},
	{"LLVM_def_aspace_cfa_sf", nil, "31 06 7e 05", "10000-10100 cfa=r6+16 r16=[cfa-8]"},

	{"undefined", nil, "07 10", "10000-10100 cfa=r7+8 r16=undefined"},
	{"same_value", nil, "08 06", "10000-10100 cfa=r7+8 r6=same value r16=[cfa-8]"},
	{"offset", nil, "86 02", "10000-10100 cfa=r7+8 r6=[cfa-16] r16=[cfa-8]"},
	{"offset of two bytes", nil, "86 8001 41", "10000-10004 cfa=r7+8 r6=[cfa-1024] r16=[cfa-8]; 10004-10100 cfa=r7+8 r6=[cfa-1024] r16=[cfa-8]"},
	{"offset_extended", nil, "05 20 02", "10000-10100 cfa=r7+8 r16=[cfa-8] r32=[cfa-16]"},
	{"offset_extended_sf", nil, "11 06 7e", "10000-10100 cfa=r7+8 r6=[cfa+16] r16=[cfa-8]"},
	{"offset_extended_sf as old gas wrote it", nil, "11 06 feffffffffffffffff01", "10000-10100 cfa=r7+8 r6=[cfa+16] r16=[cfa-8]"},
	{"padded numbers", nil, "11 8680 00 feff7f", "10000-10100 cfa=r7+8 r6=[cfa+16] r16=[cfa-8]"},
	{"GNU_negative_offset_extended", nil, "2f 06 02", "10000-10100 cfa=r7+8 r6=[cfa+16] r16=[cfa-8]"},
	{"val_offset is factored", nil, "14 06 02", "10000-10100 cfa=r7+8 r6=cfa-16 r16=[cfa-8]"},
	{"val_offset_sf is factored", nil, "15 06 7e", "10000-10100 cfa=r7+8 r6=cfa+16 r16=[cfa-8]"},
	{"register", nil, "09 10 03", "10000-10100 cfa=r7+8 r16=r3"},
	{"expression", nil, "10 06 02 7670", "10000-10100 cfa=r7+8 r6=[7670] r16=[cfa-8]"},
	{"val_expression", nil, "16 06 02 7670", "10000-10100 cfa=r7+8 r6=(7670) r16=[cfa-8]"},
	{"an empty expression", nil, "10 06 00", "10000-10100 cfa=r7+8 r6=[] r16=[cfa-8]"},
	{"columns stay in order", nil, "8c02 8303 8604 8f05 8305",
		"10000-10100 cfa=r7+8 r3=[cfa-40] r6=[cfa-32] r12=[cfa-16] r15=[cfa-40] r16=[cfa-8]"},

	{"restore to what the CIE sets", nil, "07 10 41 d0", "10000-10004 cfa=r7+8 r16=undefined; 10004-10100 -"},
	{"restore of a column that the CIE leaves alone is unspecified", nil,
		"86 02 41 c6", "10000-10004 cfa=r7+8 r6=[cfa-16] r16=[cfa-8]; 10004-10100 -"},
	{"restore of a column without a rule", nil, "c6", "10000-10100 -"},
	{"restore_extended", nil, "07 10 05 20 02 41 06 10 06 20",
		"10000-10004 cfa=r7+8 r16=undefined r32=[cfa-16]; 10004-10100 -"},
	{"restore leaves the CFA", nil, "0e 20 d0", "10000-10100 cfa=r7+32 r16=[cfa-8]"},

	{"remember_state includes the CFA", nil, "0a 0c0610 8602 0710 41 0b",
		"10000-10004 cfa=r6+16 r6=[cfa-16] r16=undefined; 10004-10100 -"},
	{"remembered states nest", nil, "0a 8302 0a 8603 0e20 41 0b 42 0b",
		"10000-10004 cfa=r7+32 r3=[cfa-16] r6=[cfa-24] r16=[cfa-8]; 10004-1000c cfa=r7+8 r3=[cfa-16] r16=[cfa-8]; 1000c-10100 -"},
	{"a state is restored once", nil, "0a 8302 0a 0b 41 0b", "10000-10004 cfa=r7+8 r3=[cfa-16] r16=[cfa-8]; 10004-10100 -"},
	{"remember_state includes what an expression hides", nil, "0a 0e20 0f027600 41 0b 0d06",
		"10000-10004 cfa=(7600) r16=[cfa-8]; 10004-10100 cfa=r6+8 r16=[cfa-8]"},
	{"remember_state does not include the size of arguments", nil, "0a 2e10 41 0b",
		"10000-10004 cfa=r7+8 r16=[cfa-8] args=16; 10004-10100 cfa=r7+8 r16=[cfa-8] args=16"},

	{"GNU_args_size", nil, "2e 8001 41 2e 00", "10000-10004 cfa=r7+8 r16=[cfa-8] args=128; 10004-10100 -"},
	{"AARCH64_negate_ra_state", arm64, "2d 41 2d", "10000-10004 cfa=r7+8 r16=[cfa-8] signed; 10004-10100 -"},
	{"AARCH64_negate_ra_state_with_pc", arm64, "2c 41 2c", "10000-10004 cfa=r7+8 r16=[cfa-8] signed; 10004-10100 -"},
	{"AARCH64_negate_ra_state is remembered", arm64, "2d 0a 2d 41 0b",
		"10000-10004 -; 10004-10100 cfa=r7+8 r16=[cfa-8] signed"},
	{"GNU_window_save", sparc, "2d", "10000-10100 cfa=r7+8 r16=[cfa+0] r17=[cfa+8] r18=[cfa+16] r19=[cfa+24]" +
		" r20=[cfa+32] r21=[cfa+40] r22=[cfa+48] r23=[cfa+56] r24=[cfa+64] r25=[cfa+72] r26=[cfa+80]" +
		" r27=[cfa+88] r28=[cfa+96] r29=[cfa+104] r30=[cfa+112] r31=[cfa+120]"},
}

func TestInstructions(t *testing.T) {
	for _, test := range instructionTests {
		t.Run(test.name, func(t *testing.T) {
			m := test.machine
			if m == nil {
				m = x86
			}
			f := onlyFDE(t, program(t, m, usual, test.instructions))
			got, err := rows(f)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.ReplaceAll(test.rows, "-;", "cfa=r7+8 r16=[cfa-8];"), "; ")
			for i := range want {
				if strings.HasSuffix(want[i], " -") {
					want[i] = strings.TrimSuffix(want[i], "-") + "cfa=r7+8 r16=[cfa-8]"
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			checkSteps(t, f, got)
			checkRowAt(t, f)
		})
	}
}

// checkSteps executes the FDE instruction by instruction; the rows must be the same.
func checkSteps(t *testing.T, f *cfi.FDE, want []string) {
	t.Helper()
	var x cfi.Interpreter
	var got []string
	var ins cfi.Instruction
	x.Start(f)
	row := x.Row()
	emit := func(start, end uint64) {
		if start < end {
			row.Start, row.End = start, end
			got = append(got, rowText(row))
		}
	}
	d := f.Decode()
	for d.Next(&ins) {
		start := x.Location()
		if !x.Execute(f.CIE, &ins) {
			t.Fatal(x.Err())
		}
		emit(start, x.Location())
	}
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	emit(x.Location(), f.End)
	if !slices.Equal(got, want) {
		t.Errorf("instruction by instruction\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkRowAt compares RowAt with Rows at the first and the last address of each row.
func checkRowAt(t *testing.T, f *cfi.FDE) {
	t.Helper()
	var x, y cfi.Interpreter
	for row := range x.Rows(f) {
		for _, pc := range []uint64{row.Start, row.End - 1} {
			at, err := y.RowAt(f, pc)
			if err != nil {
				t.Fatalf("RowAt(%#x): %v", pc, err)
			}
			if rowText(at) != rowText(row) {
				t.Errorf("RowAt(%#x) is %s, the row is %s", pc, rowText(at), rowText(row))
			}
		}
	}
	for _, pc := range []uint64{f.Start - 1, f.End} {
		if _, err := y.RowAt(f, pc); !errors.Is(err, cfi.ErrNoFDE) {
			t.Errorf("RowAt(%#x): %v, expected %v", pc, err, cfi.ErrNoFDE)
		}
	}
}

func TestMalformedInstructions(t *testing.T) {
	// The FDE's instructions start after the CIE of 18 bytes and 24 bytes of the FDE.
	const at = 18 + 24
	var columns strings.Builder
	for c := range 300 {
		fmt.Fprintf(&columns, "05 %02x%02x 01", c&0x7f|0x80, c>>7)
	}
	for _, test := range []struct {
		name         string
		cie          string
		instructions string
		rows         int // before the fault
		kind         error
		offset       uint64 // of the fault
		message      string
	}{
		{"unknown operation", usual, "41 17", 1, cfi.ErrInstruction, at + 1, "unknown operation 0x17"},
		{"unknown user operation", usual, "3f", 0, cfi.ErrInstruction, at, "unknown operation 0x3f"},
		{"truncated operand", usual, "41 0e", 1, cfi.ErrTruncated, at + 2, "no byte is left"},
		{"truncated address", usual, "41 01 00", 1, cfi.ErrTruncated, at + 2, "expected 8"},
		{"truncated expression", usual, "10 06 05 96", 0, cfi.ErrTruncated, at + 3, "expected 5"},
		{"an expression of 2^64-1 bytes", usual, "0f ffffffffffffffffff01", 0, cfi.ErrTruncated, at + 11, "expected 18446744073709551615"},
		{"LEB128 without end", usual, "0e 8080808080", 0, cfi.ErrTruncated, at + 6, "no byte is left"},
		{"LEB128 of 33 bytes", usual, "0e " + strings.Repeat("80", 32) + "00", 0, cfi.ErrLEB128, at + 33, "longer than 32 bytes"},
		{"LEB128 of 65 bits", usual, "0e 80808080808080808002", 0, cfi.ErrLEB128, at + 11, "wider than 64 bits"},
		{"signed LEB128 of 66 bits", usual, "13 80808080808080808002", 0, cfi.ErrLEB128, at + 11, "wider than 64 bits"},
		{"advance past the end", usual, "7f 42 0e10", 2, cfi.ErrInstruction, at + 2, "past the end"},
		{"advance past the end of the address space", usual, "1d ffffffffffffff3f", 1, cfi.ErrInstruction, at + 9, "past the end"},
		{"set_loc backwards", usual, "41 01 0000010000000000", 1, cfi.ErrInstruction, at + 1, "goes back"},
		{"restore_state without a state", usual, "41 0b", 1, cfi.ErrInstruction, at + 1, "without a DW_CFA_remember_state"},
		{"257 states", usual, strings.Repeat("0a", 257), 0, cfi.ErrInstruction, at + 256, "nests deeper"},
		{"300 columns", "", columns.String(), 0, cfi.ErrInstruction, at + 256*4, "at most 256"},
		{"column 2^32", usual, "07 8080808010", 0, cfi.ErrInstruction, at, "column 4294967296"},
		{"register 2^32", usual, "09 06 8080808010", 0, cfi.ErrInstruction, at, "column 4294967296"},
		{"CFA in column 2^32", usual, "0c 8080808010 08", 0, cfi.ErrInstruction, at, "column 4294967296"},
		{"def_cfa_offset without a CFA", "", "0e 08", 0, cfi.ErrInstruction, 13 + 24, "needs a CFA that is a register plus an offset"},
		{"def_cfa_offset after an expression alone", "", "0f 01 96 0e 08", 0, cfi.ErrInstruction, 13 + 27, "needs a CFA that is a register plus an offset"},
		{"an advance in the CIE", "41 " + usual, "", 0, cfi.ErrInstruction, 13, "in a CIE"},
		{"restore_state in the CIE", "0b", "", 0, cfi.ErrInstruction, 13, "without a DW_CFA_remember_state"},
		{"a truncated CIE", "0c07", "", 0, cfi.ErrTruncated, 15, "no byte is left"},
		{"a CIE of 1,100 bytes", usual + strings.Repeat("00", 1100), "", 0, cfi.ErrInstruction, 13, "expected at most 1024"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onlyFDE(t, program(t, x86, test.cie, test.instructions))
			if test.cie == "" && test.offset >= at {
				test.offset -= 5 // without the usual rules
			}
			got, err := rows(f)
			var e *cfi.Error
			if !errors.As(err, &e) || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.message) {
				t.Fatalf("%v, expected %v with %q", err, test.kind, test.message)
			}
			if e.Offset != test.offset || e.Section != ".eh_frame" {
				t.Errorf("the fault is at %s+%#x, expected .eh_frame+%#x", e.Section, e.Offset, test.offset)
			}
			if len(got) != test.rows {
				t.Errorf("%d rows before the fault, expected %d: %q", len(got), test.rows, got)
			}
			var x cfi.Interpreter
			if row, err := x.RowAt(f, f.End-1); test.message != "past the end" && err == nil {
				t.Errorf("RowAt after the fault is %s", rowText(row))
			}
			// The next FDE is interpreted as if there had been no error.
			sound := onlyFDE(t, program(t, x86, usual, ""))
			if row, err := x.RowAt(sound, sound.Start); err != nil || rowText(row) != "10000-10100 cfa=r7+8 r16=[cfa-8]" {
				t.Errorf("after the fault: %v", err)
			}
		})
	}
}

// The CIEs that gas writes for MIPS and RISC-V define only the register of the CFA.
func TestDefCFARegisterAlone(t *testing.T) {
	got, err := rows(onlyFDE(t, program(t, x86, "0d 07", "41 0e 10")))
	want := []string{"10000-10004 cfa=r7+0", "10004-10100 cfa=r7+16"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; expected %q", got, err, want)
	}
}

func TestDecoder(t *testing.T) {
	f := onlyFDE(t, program(t, x86, usual, "43 8602 0910 03 0f027608 13 7e"))
	base := f.InstructionsOffset
	want := []cfi.Instruction{
		{Op: cfi.CFAAdvanceLoc, Offset: base, Size: 1, Operand: 3},
		{Op: cfi.CFAOffset, Offset: base + 1, Size: 2, Register: 6, Operand: 2},
		{Op: cfi.CFARegister, Offset: base + 3, Size: 3, Register: 16, Register2: 3},
		{Op: cfi.CFADefCFAExpression, Offset: base + 6, Size: 4, Expression: []byte{0x76, 0x08}},
		{Op: cfi.CFADefCFAOffsetSF, Offset: base + 10, Size: 2, Operand: -2},
	}
	var got []cfi.Instruction
	var ins cfi.Instruction
	d := f.Decode()
	for d.Next(&ins) {
		got = append(got, ins)
	}
	if d.Err() != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%v\n%+v\nwant\n%+v", d.Err(), got, want)
	}
	c := f.CIE.Decode()
	if !c.Next(&ins) || ins.Op != cfi.CFADefCFA || ins.Register != 7 || ins.Operand != 8 || ins.Offset != f.CIE.InstructionsOffset {
		t.Errorf("the CIE starts with %+v", ins)
	}
	var none cfi.Decoder
	if none.Next(&ins) || none.Err() != nil {
		t.Error("the zero Decoder yields an instruction")
	}
}

func TestOpcodeNames(t *testing.T) {
	for op, want := range map[cfi.Opcode]string{
		cfi.CFAAdvanceLoc: "DW_CFA_advance_loc", cfi.CFAGNUWindowSave: "DW_CFA_GNU_window_save", 0x17: "DW_CFA_0x17",
	} {
		if got := op.Name(x86); got != want {
			t.Errorf("%#02x is %s on x86-64, expected %s", uint8(op), got, want)
		}
	}
	if got := cfi.CFAAArch64NegateRAState.Name(arm64); got != "DW_CFA_AARCH64_negate_ra_state" {
		t.Errorf("0x2d is %s on arm64", got)
	}
}

// A loop over a real section allocates nothing per FDE.
func TestRowsDoNotAllocate(t *testing.T) {
	s := ehFrame(t, llvm)
	var x cfi.Interpreter
	fdes := 0
	pass := func() {
		for f := range s.FDEs() {
			fdes++
			for range x.Rows(f) {
			}
		}
	}
	pass() // CIEs are decoded once, and the interpreter grows
	fdes = 0
	if n := testing.AllocsPerRun(3, pass); n > 8 {
		t.Errorf("%v allocations for %d FDEs", n, fdes/4)
	}
	if fdes < 4*10000 {
		t.Fatalf("%d FDEs", fdes/4)
	}
}
