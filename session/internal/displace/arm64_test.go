// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

func words(ops ...uint32) []byte {
	var b []byte
	for _, op := range ops {
		b = binary.LittleEndian.AppendUint32(b, op)
	}
	return b
}

// arm64Mnemonics are the prefixes of the mnemonics of forms that are not plain.
var arm64Mnemonics = []struct {
	name string
	form arm64Form
}{
	{"udf", arm64Trap}, {"adr", arm64Address}, {"prfum", arm64Plain},
	{"bl", arm64Link}, {"b", arm64Branch}, {"cbz", arm64Conditional}, {"cbnz", arm64Conditional},
	{"tbz", arm64Test}, {"tbnz", arm64Test}, {"br", arm64Register}, {"braa", arm64Register}, {"braaz", arm64Register},
	{"blr", arm64LinkRegister}, {"blraa", arm64LinkRegister}, {"blraaz", arm64LinkRegister},
	{"ret", arm64Return}, {"retaa", arm64Return}, {"retab", arm64Return}, {"svc", arm64System},
	{"brk", arm64Trap}, {"hlt", arm64Trap}, {"hvc", arm64Trap}, {"smc", arm64Trap}, {"eret", arm64Trap},
	{"movprfx", arm64Prefix},
}

func arm64FormOfText(text string) arm64Form {
	mnemonic, operands, _ := strings.Cut(text, "\t")
	switch {
	case strings.HasPrefix(mnemonic, "b."), strings.HasPrefix(mnemonic, "bc."):
		return arm64Conditional
	case mnemonic == "adrp":
		return arm64Address
	case strings.HasPrefix(mnemonic, "ldx"), strings.HasPrefix(mnemonic, "ldaxr"), strings.HasPrefix(mnemonic, "ldaxp"):
		return arm64LoadExclusive
	case strings.HasPrefix(mnemonic, "stx"), strings.HasPrefix(mnemonic, "stlxr"), strings.HasPrefix(mnemonic, "stlxp"):
		return arm64StoreExclusive
	case (mnemonic == "ldr" || mnemonic == "ldrsw" || mnemonic == "prfm") && !strings.Contains(operands, "["):
		return arm64Literal
	}
	for _, m := range arm64Mnemonics {
		if m.name == mnemonic {
			return m.form
		}
	}
	return arm64Plain
}

// The form and the target of every instruction are those of objdump.
func TestARM64FormsAgreeWithObjdump(t *testing.T) {
	objdump := testprogram.RequireTool(t, "aarch64-linux-gnu-objdump")
	for _, path := range []string{
		"/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1", "/usr/aarch64-linux-gnu/lib/libm.so.6",
	} {
		t.Run(path[strings.LastIndexByte(path, '/')+1:], func(t *testing.T) {
			start, end := window(t, path, 2<<20)
			seen := map[arm64Form]int{}
			differ := 0
			disassemble(t, objdump, path, func(l line) {
				// objdump prints words, most significant digit first.
				op := binary.BigEndian.Uint32(l.code)
				form := arm64FormOf(op)
				seen[form]++
				if want := arm64FormOfText(l.text); form != want && !strings.HasPrefix(l.text, ".") && differ < 20 {
					differ++
					t.Errorf("%x: %08x %s: form %d, expected %d", l.address, op, l.text, form, want)
				}
				switch form {
				case arm64Address, arm64Literal, arm64Branch, arm64Link, arm64Conditional, arm64Test:
					target := arm64Target(op, form, l.address)
					if !strings.Contains(l.text, fmt.Sprintf("%x <", target)) && differ < 20 {
						differ++
						t.Errorf("%x: %08x %s: names %#x", l.address, op, l.text, target)
					}
				}
			}, "--start-address="+fmt.Sprint(start), "--stop-address="+fmt.Sprint(end))
			t.Logf("instructions by form: %v", seen)
		})
	}
}

// The rules of doc.go and Make, by literal code: pc 0x10000, slot 0x4000000.
func TestARM64Slots(t *testing.T) {
	for _, test := range []struct {
		name string
		code []byte
		slot uint64
		want []byte
		err  error
	}{
		{name: "plain", code: words(0x91000420), want: words(0x91000420, 0x17004000)},
		{name: "adr x5, .+8", code: words(0x10000045), want: words(0x58000045, 0x17004000, 0x10008, 0)},
		{name: "b .+16", code: words(0x14000004), want: words(0x17004004)},
		{name: "bl .+16", code: words(0x94000004), want: words(0x5800005e, 0x17004003, 0x10004, 0)},
		{name: "b.ne .-4", code: words(0x54ffffe1), want: words(0x54000041, 0x17004000, 0x17003ffd)},
		{name: "tbnz w3, 5, .+8", code: words(0x37280043), want: words(0x37280043, 0x17004000, 0x17004000)},
		{name: "blr x2", code: words(0xd63f0040), want: words(0x5800005e, 0xd61f0040, 0x10004, 0)},
		{name: "blraa x2, x3", code: words(0xd73f0843), want: words(0x5800005e, 0xd71f0843, 0x10004, 0)},
		{name: "blr x30", code: words(0xd63f03c0), err: ErrUnsupported},
		{name: "blraa x2, x30", code: words(0xd73f085e), err: ErrUnsupported},
		{name: "ret", code: words(0xd65f03c0), want: words(0xd65f03c0)},
		{name: "ldr w1, .+8", code: words(0x18000041), want: words(0x58000081, 0xb9400021, 0x17003fff, 0, 0x10008, 0)},
		{name: "ldr w1, .+8, near", code: words(0x18000041), slot: 0x20000, want: words(0x18f80041, 0x17ffc000)},
		{name: "prfm, far", code: words(0xd8000040), want: words(0xd503201f, 0x17004000)},
		{name: "ldr q1, far", code: words(0x9c000041), err: ErrFar},
		{name: "out of reach", code: words(0x91000420), slot: 0x8100000, err: ErrFar},
		{name: "ldxr without an end", code: words(0xc85f7c20, 0xd65f03c0), err: ErrExclusive},
		{name: "ldxr at the end", code: words(0xc85f7c20), err: ErrExclusive},
		{name: "movprfx alone", code: words(0x0420bc20), err: ErrInvalid},
		{name: "cut", code: []byte{1, 2, 3}, err: ErrInvalid},
		{name: "retaasppc", code: words(0x5500001f), err: ErrUnsupported},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.slot == 0 {
				test.slot = 0x4000000
			}
			s, err := Make(arm64(), test.code, 0x10000, test.slot)
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, expected %v", err, test.err)
			}
			if err == nil && string(s.Code) != string(test.want) {
				t.Errorf("% x, expected % x", s.Code, test.want)
			}
		})
	}
}

// sequence is gcc's compare and exchange.
var sequence = words(
	0xd503201f, // nop
	0xc85ffc20, // ldaxr x0, [x1]
	0xeb02001f, // cmp x0, x2
	0x54000061, // b.ne .+12
	0xc804fc23, // stlxr w4, x3, [x1]
	0x35ffff84, // cbnz w4, .-16
	0xd503201f, // nop
)

func TestInExclusive(t *testing.T) {
	for offset := range len(sequence) + 8 {
		start, inside := InExclusive(arm64(), sequence, offset-4)
		want := offset-4 == 8 || offset-4 == 12 || offset-4 == 16 || offset-4 == 20
		if inside != want || inside && start != 4 {
			t.Errorf("offset %d: %d, %t", offset-4, start, inside)
		}
	}
	if _, inside := InExclusive(amd64(), sequence, 8); inside {
		t.Error("amd64 has no exclusive sequences")
	}
}

// A sequence is one slot: branches within it stay in the slot, exits leave it.
func TestSequence(t *testing.T) {
	s, err := Make(arm64(), sequence[4:], 0x10004, 0x4000000)
	if err != nil {
		t.Fatal(err)
	}
	want := words(0xc85ffc20, 0xeb02001f, 0x54000081, 0xc804fc23, 0x35ffff84, 0x17004001, 0x17004000)
	if string(s.Code) != string(want) {
		t.Errorf("% x, expected % x", s.Code, want)
	}
	if s.Size != 20 || s.Instruction.Kind != Exclusive || s.Instruction.Size != 4 {
		t.Errorf("%+v", s)
	}
	exits := map[uint64]bool{}
	for _, p := range s.Points {
		if p.Done {
			exits[p.PC] = true
		}
	}
	// "b.ne" also exits to the word after the sequence.
	if len(s.Points) != 7 || len(exits) != 1 || !exits[0x10018] {
		t.Errorf("%+v", s.Points)
	}
}
