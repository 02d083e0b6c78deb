// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// The registers that an instruction changes are those that x/arch names as its destination, in
// the code of a library.
func TestARM64WritesAgreeWithXArch(t *testing.T) {
	arm64Root := testprogram.Emulations["arm64"]
	f, err := object.Open(arm64Root.Root() + "/lib/libc.so.6")
	if err != nil {
		t.Skip("skipped: libc.so.6 of arm64 is not installed")
	}
	defer f.Close()
	var operations []Operation
	count := 0
	for n, s := range f.Sections() {
		if s.Name != ".text" || s.Type != elf.SHT_PROGBITS {
			continue
		}
		code, err := f.SectionData(n)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+4 <= len(code); at += 4 {
			x, err := arm64asm.Decode(code[at:])
			if err != nil {
				continue
			}
			i := Instruction{Right: NoRegister}
			var ok bool
			if operations, ok = (arm64{}).Decode(code[at:], s.Address+uint64(at), &i, operations[:0]); !ok {
				t.Errorf("%#x: %v is not decoded", s.Address+uint64(at), x)
				continue
			}
			count++
			compareARM64(t, &x, writesOf(&i, operations), s.Address+uint64(at))
		}
	}
	if count < 100_000 {
		t.Errorf("%d instructions", count)
	}
}

func compareARM64(t *testing.T, x *arm64asm.Inst, set uint64, pc uint64) {
	want := uint64(0)
	name := x.Op.String()
	hasPrefix := func(list ...string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	for n, a := range x.Args {
		number, vector, base, ok := arm64Number(a)
		switch {
		case base: // of memory, which changes
			want |= 1 << number
		case !ok || vector && (number < 8 || number >= 16):
		case hasPrefix("ST", "CMP", "CMN", "TST", "CBZ", "CBNZ", "TBZ", "TBNZ", "B", "RET", "CCM", "FCM", "FCCM", "MSR", "PRFM", "SYS", "DC", "IC", "TLBI", "AT") &&
			!(hasPrefix("STXR", "STLXR", "STXP", "STLXP") && n == 0) && !hasPrefix("BIC", "BFI", "BFM", "BFXIL", "BIF", "BIT", "BSL"):
		case n == 0, n == 1 && hasPrefix("LDP", "LDNP", "LDXP", "LDAXP"):
			if vector {
				number += arm64D8 - 8
			}
			want |= 1 << number
		}
	}
	want &= 1<<arm64ABI.Registers - 1
	// Saved registers that are written must be those named.
	if extra := set &^ want & (arm64ABI.PreservedSet | 1<<arm64SP | 1<<arm64LR); want&^set != 0 || extra != 0 && !hasPrefix("LD1", "LD2", "LD3", "LD4", "ST1", "BL", "HINT", "XPAC") {
		t.Errorf("%#x: %v changes %#x, want %#x", pc, x, set, want)
	}
}

// arm64Number returns the number of a register operand, or of the base of a memory operand
// that changes.
func arm64Number(a arm64asm.Arg) (number int, vector, base, ok bool) {
	general := func(r arm64asm.Reg) (int, bool) {
		switch {
		case r >= arm64asm.X0 && r <= arm64asm.X30:
			return int(r - arm64asm.X0), true
		case r >= arm64asm.W0 && r <= arm64asm.W30:
			return int(r - arm64asm.W0), true
		}
		return 0, false
	}
	switch a := a.(type) {
	case arm64asm.Reg:
		if n, ok := general(a); ok {
			return n, false, false, true
		}
		for _, first := range []arm64asm.Reg{arm64asm.B0, arm64asm.H0, arm64asm.S0, arm64asm.D0, arm64asm.Q0, arm64asm.V0} {
			if a >= first && a < first+32 {
				return int(a - first), true, false, true
			}
		}
	case arm64asm.RegSP:
		if n, ok := general(arm64asm.Reg(a)); ok {
			return n, false, false, true
		}
		return arm64SP, false, false, arm64asm.RegSP(a) == arm64asm.RegSP(arm64asm.SP)
	case arm64asm.RegisterWithArrangement:
		return arm64Number(reflectRegister(a))
	case arm64asm.MemImmediate:
		if a.Mode == arm64asm.AddrPostIndex || a.Mode == arm64asm.AddrPreIndex {
			n, _, _, _ := arm64Number(a.Base)
			return n, false, true, true
		}
	}
	return 0, false, false, false
}

// reflectRegister returns the register of a vector operand, of which x/arch exports only text:
// "v8.16b".
func reflectRegister(a arm64asm.RegisterWithArrangement) arm64asm.Arg {
	text, _, _ := strings.Cut(strings.TrimLeft(strings.ToLower(a.String()), "{v"), ".")
	n := 0
	for _, c := range text {
		n = n*10 + int(c-'0')
	}
	return arm64asm.V0 + arm64asm.Reg(n&31)
}

// TestARM64Words decodes a sample of all words: each field has all its values.
func TestARM64Words(t *testing.T) {
	var operations []Operation
	for high := range uint32(1 << 16) {
		for _, low := range []uint32{0x0000, 0xffff, 0x03e0, 0x7be8, 0x0c1e, 0x501f, 0xfc00, 0xa3e8} {
			word := high<<16 | low
			operations = checkDecoded(t, arm64{}, binary.LittleEndian.AppendUint32(nil, word), operations)
		}
	}
}

// TestARM64Operations has the operations of instructions.
func TestARM64Operations(t *testing.T) {
	for _, test := range []struct {
		text string
		word uint32
		want []Operation
		set  uint64 // clobbered
	}{
		{"stp x29, x30, [sp, #-32]!", 0xa9be7bfd, []Operation{{Op: OpStore, To: 31, From: 29, Size: 8, Offset: -32}, {Op: OpStore, To: 31, From: 30, Size: 8, Offset: -24}, {Op: OpCopy, To: 31, From: 31, Offset: -32}}, 0},
		{"ldp x29, x30, [sp], #32", 0xa8c27bfd, []Operation{{Op: OpLoad, To: 29, From: 31}, {Op: OpLoad, To: 30, From: 31, Offset: 8}, {Op: OpCopy, To: 31, From: 31, Offset: 32}}, 0},
		{"ldp x0, x1, [x0]", 0xa9400400, []Operation{{Op: OpLoad, To: 1, From: 0, Offset: 8}, {Op: OpLoad, To: 0, From: 0}}, 0},
		{"stp d8, d9, [sp, #16]", 0x6d0127e8, []Operation{{Op: OpStore, To: 31, From: 32, Size: 8, Offset: 16}, {Op: OpStore, To: 31, From: 33, Size: 8, Offset: 24}}, 0},
		{"str q8, [sp]", 0x3d8003e8, []Operation{{Op: OpStore, To: 31, From: 32, Size: 8}, {Op: OpStore, To: 31, From: NoRegister, Size: 8, Offset: 8}}, 0},
		{"str w19, [x1, #4]", 0xb9000433, []Operation{{Op: OpStore, To: 1, From: NoRegister, Size: 4, Offset: 4}}, 0},
		{"ldr w19, [x1, #4]", 0xb9400433, nil, 1 << 19},
		{"sub sp, sp, #1, lsl #12", 0xd14007ff, []Operation{{Op: OpCopy, To: 31, From: 31, Offset: -4096}}, 0},
		{"mov x29, sp", 0x910003fd, []Operation{{Op: OpCopy, To: 29, From: 31}}, 0},
		{"sub sp, sp, x16", 0xcb3063ff, []Operation{{Op: OpDifference, To: 31, From: 31, Index: 16}}, 0},
		{"and sp, x1, #-16", 0x927cec3f, []Operation{{Op: OpAlign, To: 31, From: 1, Offset: -16}}, 0},
		{"mov x16, #-2", 0x92800030, []Operation{{Op: OpConstant, To: 16, Offset: -2}}, 0},
		{"movk x16, #1, lsl #16", 0xf2a00030, []Operation{{Op: OpInsert, To: 16, From: 16, Size: 16, Offset: 1}}, 0},
		{"mov x0, #0xffff0000ffff", 0xb2003fe0, []Operation{{Op: OpConstant, To: 0, Offset: 0xffff0000ffff}}, 0},
		{"mov w0, #0xff00ff", 0x32009fe0, []Operation{{Op: OpConstant, To: 0, Offset: 0xff00ff}}, 0},
		{"adrp x1, 0x2000", 0xb0000001, []Operation{{Op: OpConstant, To: 1, Offset: 0x2000}}, 0},
		{"ldrb w1, [x1, w0, uxtw]", 0x38604821, []Operation{{Op: OpTable, To: 1, From: 1, Index: 0, Size: 1}}, 0},
		{"ldrsw x1, [x1, x0, lsl #2]", 0xb8a07821, []Operation{{Op: OpTable, To: 1, From: 1, Index: 0, Size: 4, Signed: true}}, 0},
		{"add x1, x0, w1, sxtb #2", 0x8b218801, []Operation{{Op: OpExtend, To: Scratch, From: 1, Size: 1, Signed: true}, {Op: OpSum, To: 1, From: 0, Index: Scratch, Size: 2}}, 0},
		{"paciasp", 0xd503233f, []Operation{{Op: OpSign, To: 30, From: 30}}, 0},
		{"pacib x30, sp", 0xdac107fe, []Operation{{Op: OpSign, To: 30, From: 30, Offset: KeyB}}, 0},
		{"autibsp", 0xd50323ff, []Operation{{Op: OpAuthenticate, To: 30, From: 30, Offset: KeyB}}, 0},
		{"retab", 0xd65f0fff, []Operation{{Op: OpAuthenticate, To: 30, From: 30, Offset: KeyB}}, 0},
		{"addvl sp, sp, #-2", 0x043f57df, []Operation{{Op: OpIndexed, To: 31, From: 31, Index: NoRegister}}, 0},
		{"str z0, [sp]", 0xe58043e0, []Operation{{Op: OpStoreUnsized, To: 31, From: NoRegister}}, 0},
		{"fmov x19, d8", 0x9e660113, []Operation{{Op: OpCopy, To: 19, From: 32}}, 0},
		{"fmov d8, d0", 0x1e604008, []Operation{{Op: OpForget, To: 32, From: NoRegister}}, 0},
		{"fcvtzs x19, d0", 0x9e780013, nil, 1 << 19},
		{"scvtf d8, x19", 0x9e620268, nil, 1 << 32},
		{"fcmp d8, d9", 0x1e692100, nil, 0},
		{"umov w19, v0.b[0]", 0x0e013c13, []Operation{{Op: OpForget, To: 19, From: NoRegister}}, 0},
		{"csel x19, x1, x2, eq", 0x9a820033, []Operation{{Op: OpSelect, To: 19, From: 1, Index: 2}}, 0},
		{"ldaddal x1, x19, [x0]", 0xf8e10013, []Operation{{Op: OpStore, To: 0, From: NoRegister, Size: 8}}, 1 << 19},
		{"stxr w19, x1, [x0]", 0xc8137c01, []Operation{{Op: OpStore, To: 0, From: NoRegister, Size: 8}}, 1 << 19},
		{"casp x20, x21, x2, x3, [x0]", 0x48347c02, []Operation{{Op: OpStore, To: 0, From: NoRegister, Size: 16}}, 3 << 20},
		{"prfm pldl1keep, [x19]", 0xf9800260, nil, 0},
	} {
		i := Instruction{Right: NoRegister}
		got, ok := (arm64{}).Decode(binary.LittleEndian.AppendUint32(nil, test.word), 0x1000, &i, nil)
		if !ok || !slices.Equal(got, test.want) || i.Clobbered != test.set {
			t.Errorf("%s: %+v %#x %v, want %+v", test.text, got, i.Clobbered, ok, test.want)
		}
	}
}
