// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// frame is a frame in which register n contains 0x1000*n, for n below 20, with some memory.
type frame struct{ memory }

func (frame) Register(column uint64) (uint64, bool) { return 0x1000 * column, column < 20 }

// testFrame has 8 bytes of memory at 0x7000, the value of register 7.
func testFrame(m *arch.Machine) frame {
	return frame{memory{0x7000, number(m, 8, 0x8182838485868788)}}
}

// evaluate evaluates an expression. For a register's expression the CFA, 0xcfa0, is on
// the stack.
func evaluate(tb testing.TB, m *arch.Machine, expression string, ofCFA bool) (uint64, error) {
	tb.Helper()
	s := &cfi.Section{Name: ".eh_frame", Data: unhex(tb, expression), Machine: m}
	var e cfi.Evaluator
	if ofCFA {
		return e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Register: uint32(len(s.Data))}, testFrame(m))
	}
	return e.Register(s, cfi.Rule{Kind: cfi.Expression, Register: uint32(len(s.Data))}, 0xcfa0, testFrame(m))
}

func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		expression string
		wide       uint64 // on x86-64
		narrow     uint64 // on i386; 0: the same
	}{
		{"30", 0, 0}, {"4f", 31, 0}, // lit0, lit31
		{"08ff", 0xff, 0}, {"09ff", 0xffffffffffffffff, 0xffffffff}, // const1u, const1s
		{"0affff", 0xffff, 0}, {"0bffff", 0xffffffffffffffff, 0xffffffff},
		{"0cffffff80", 0x80ffffff, 0}, {"0dffffff80", 0xffffffff80ffffff, 0x80ffffff},
		{"0e8877665544332211", 0x1122334455667788, 0x55667788}, {"0fffffffffffffffff", 0xffffffffffffffff, 0xffffffff},
		{"10 808004", 0x10000, 0}, {"11 7f", 0xffffffffffffffff, 0xffffffff}, // constu, consts

		{"57", 0x7000, 0}, {"90 07", 0x7000, 0}, // reg7, regx 7
		{"77 08", 0x7008, 0}, {"77 78", 0x6ff8, 0}, // breg7 +8, -8
		{"92 07 7f", 0x6fff, 0},                      // bregx 7 -1
		{"70 7f", 1<<64 - 1, 0xffffffff},             // breg0 -1 wraps
		{"12 22", 2 * 0xcfa0, 0},                     // dup plus: the CFA is on the stack
		{"31 13", 0xcfa0, 0},                         // lit1 drop
		{"31 14", 0xcfa0, 0},                         // over
		{"31 32 33 15 02", 1, 0},                     // pick 2
		{"31 15 00", 1, 0},                           // pick 0 is dup
		{"31 32 16 1c", 1, 0},                        // swap minus: 2-1
		{"31 32 33 17", 2, 0},                        // rot: the second is on top
		{"31 32 33 17 13", 1, 0},                     // and the third follows it
		{"31 32 33 17 13 13", 3, 0},                  // and the first is last
		{"77 00 06", 0x8182838485868788, 0x85868788}, // deref
		{"77 00 94 01", 0x88, 0}, {"77 00 94 02", 0x8788, 0}, {"77 00 94 04", 0x85868788, 0},

		{"09ff 19", 1, 0}, {"31 19", 1, 0}, // abs
		{"0d000000 80 19", 0x80000000, 0x80000000},
		{"31 1f", 1<<64 - 1, 1<<32 - 1}, {"30 20", 1<<64 - 1, 1<<32 - 1}, // neg, not
		{"31 23 ff01", 0x100, 0},                                    // plus_uconst
		{"3c 3a 1a", 8, 0}, {"3c 3a 21", 14, 0}, {"3c 3a 27", 6, 0}, // and, or, xor
		{"3c 3a 22", 22, 0}, {"3c 3a 1c", 2, 0}, {"3a 3c 1c", 1<<64 - 2, 1<<32 - 2}, // plus, minus
		{"3c 3a 1e", 120, 0}, {"09ff 3a 1e", 1<<64 - 10, 1<<32 - 10}, // mul
		{"4e 34 1b", 7, 0}, {"09f6 33 1b", 1<<64 - 3, 1<<32 - 3}, // div is signed: -10/3
		{"4e 09fc 1b", 1<<64 - 7, 1<<32 - 7},                                   // 30/-4
		{"0f0000000000000080 09ff 1b", 1 << 63, 0},                             // the least number / -1; 32 bits: 0/-1
		{"4e 34 1d", 2, 0}, {"09ff 3a 1d", (1<<64 - 1) % 10, (1<<32 - 1) % 10}, // mod is unsigned
		{"31 34 24", 16, 0}, {"31 083f 24", 1 << 63, 0}, {"31 0840 24", 0, 0},
		{"31 0820 24", 1 << 32, 0},
		{"09ff 34 25", 1<<60 - 1, 1<<28 - 1}, {"09ff 0840 25", 0, 0}, // shr is logical
		{"09f0 34 26", 1<<64 - 1, 1<<32 - 1}, {"09ff 0840 26", 1<<64 - 1, 1<<32 - 1}, {"4e 31 26", 15, 0}, // shra

		{"31 31 29", 1, 0}, {"31 32 29", 0, 0}, // eq
		{"31 09ff 2a", 1, 0}, {"31 31 2a", 1, 0}, {"09ff 31 2a", 0, 0}, // ge is signed
		{"31 09ff 2b", 1, 0}, {"31 31 2b", 0, 0}, // gt
		{"09ff 31 2c", 1, 0}, {"31 31 2c", 1, 0}, {"32 31 2c", 0, 0}, // le
		{"09ff 31 2d", 1, 0}, {"31 31 2d", 0, 0}, // lt
		{"31 32 2e", 1, 0}, {"31 31 2e", 0, 0}, // ne

		{"31 2f0100 96 32", 2, 0},          // skip
		{"31 2f0000 96", 1, 0},             // skip 0
		{"31 31 280100 13 33", 3, 0},       // bra, taken
		{"31 30 280100 13 33 96", 3, 0},    // bra, not taken: drops the 1
		{"31 2f0100 33", 1, 0},             // skip to the end
		{"35 31 1c 12 28faff", 0, 0},       // counts 5 down to 0
		{"96", 0xcfa0, 0}, {"", 0xcfa0, 0}, // nop; an empty expression leaves the CFA
		{"f1 03 78563412", 0x12345678, 0}, // GNU_encoded_addr
		{"f1 0b f0ffffff", 1<<64 - 16, 1<<32 - 16},
		// Debian's PLT: rsp + 8 + ((rip & 15) >= 11) * 8.
		{"77 08 80 00 3f 1a 3b 2a 33 24 22", 0x7008, 0},
	} {
		t.Run(test.expression, func(t *testing.T) {
			got, err := evaluate(t, x86, test.expression, false)
			if err != nil || got != test.wide {
				t.Errorf("x86-64: %#x, %v; want %#x", got, err, test.wide)
			}
			narrow := test.narrow
			if narrow == 0 {
				narrow = test.wide & 0xffffffff
			}
			if got, err = evaluate(t, i386, test.expression, false); err != nil || got != narrow {
				t.Errorf("i386: %#x, %v; want %#x", got, err, narrow)
			}
		})
	}
}

func TestEvaluateAddress(t *testing.T) {
	for _, test := range []struct {
		machine    *arch.Machine
		expression string
		want       uint64
	}{
		{x86, "03 8877665544332211", 0x1122334455667788},
		{i386, "03 44332211", 0x11223344},
		{s390x, "03 1122334455667788", 0x1122334455667788},
		{mips, "03 11223344", 0x11223344},
		{s390x, "77 00 06", 0x8182838485868788},
		{s390x, "77 00 94 02", 0x8182},
		{mips, "77 00 06", 0x81828384},
		{mips, "0a 1234", 0x1234},
		{mips, "2f 0001 96 31", 1},
	} {
		if got, err := evaluate(t, test.machine, test.expression, false); err != nil || got != test.want {
			t.Errorf("%s %s: %#x, %v; want %#x", test.machine.Name, test.expression, got, err, test.want)
		}
	}
}

func TestEvaluateFails(t *testing.T) {
	for _, test := range []struct {
		name       string
		expression string
		kind       error
		offset     uint64
		message    string
	}{
		{"divides by zero", "31 30 1b", cfi.ErrExpression, 2, "DW_OP_div by zero"},
		{"remainder of zero", "31 30 1d", cfi.ErrExpression, 2, "DW_OP_mod by zero"},
		{"loops", "2ffdff", cfi.ErrExpression, 0, "more than 10000 steps"},
		{"loops on a condition", "31 12 28fcff", cfi.ErrExpression, 0, ""},
		{"pushes for ever", "31 2ffcff", cfi.ErrExpression, 0, "deeper than 64"},
		{"jumps before the start", "2ffcff", cfi.ErrExpression, 0, "outside of the expression"},
		{"jumps past the end", "2f0100", cfi.ErrExpression, 0, "outside of the expression"},
		{"jumps far", "31 28ff7f", cfi.ErrExpression, 1, "outside of the expression"},
		{"underflow", "22", cfi.ErrExpression, 0, "DW_OP_plus with 0 on the stack, expected 2"},
		{"underflow of pick", "31 15 05", cfi.ErrExpression, 1, "expected 6"},
		{"underflow of drop", "13", cfi.ErrExpression, 0, "expected 1"},
		{"underflow of swap", "31 16", cfi.ErrExpression, 1, "expected 2"},
		{"underflow of rot", "31 31 17", cfi.ErrExpression, 2, "expected 3"},
		{"underflow of deref", "06", cfi.ErrExpression, 0, "expected 1"},
		{"underflow of bra", "280000", cfi.ErrExpression, 0, "expected 1"},
		{"underflow of neg", "1f", cfi.ErrExpression, 0, "expected 1"},
		{"leaves nothing", "", cfi.ErrExpression, 0, "an empty stack"},
		{"drops all", "31 13", cfi.ErrExpression, 2, "an empty stack"},
		{"a register that is not known", "90 20", cfi.ErrExpression, 0, "DW_OP_regx needs register"},
		{"a base register that is unknown", "8f 08", cfi.ErrExpression, 0, "which is unknown"},
		{"memory that cannot be read", "77 7f 06", cfi.ErrExpression, 2, "nothing at 0x6fff"},
		{"deref_size 3", "77 00 94 03", cfi.ErrExpression, 2, "of 3 bytes"},
		{"deref_size 0", "77 00 94 00", cfi.ErrExpression, 2, "of 0 bytes"},
		{"deref_size 255", "77 00 94 ff", cfi.ErrExpression, 2, "of 255 bytes"},
		{"unknown operation", "31 02", cfi.ErrExpression, 1, "unknown operation 0x02"},
		{"truncated", "31 0a00", cfi.ErrTruncated, 2, "expected 2"},
		{"truncated LEB128", "10 80", cfi.ErrTruncated, 2, "no byte is left"},
		{"a block past the end", "9e 7f 00", cfi.ErrTruncated, 2, "expected 127"},
		{"fbreg", "91 00", cfi.ErrExpression, 0, "no meaning in call frame information"},
		{"piece", "93 08", cfi.ErrExpression, 0, "no meaning"},
		{"call_frame_cfa", "9c", cfi.ErrExpression, 0, "no meaning"},
		{"xderef", "31 31 18", cfi.ErrExpression, 2, "no meaning"},
		{"stack_value", "31 9f", cfi.ErrExpression, 1, "no meaning"},
		{"push_object_address", "97", cfi.ErrExpression, 0, "no meaning"},
		{"entry_value", "a3 01 57", cfi.ErrExpression, 0, "no meaning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := evaluate(t, x86, test.expression, true)
			var e *cfi.Error
			if !errors.As(err, &e) || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.message) {
				t.Fatalf("%v, want %v with %q", err, test.kind, test.message)
			}
			if test.message != "" && !strings.Contains(test.message, "deeper") && e.Offset != test.offset {
				t.Errorf("the fault is at %#x, want %#x", e.Offset, test.offset)
			}
		})
	}
	t.Run("outside of the section", func(t *testing.T) {
		s := &cfi.Section{Name: ".eh_frame", Data: []byte{0x31}, Machine: x86}
		var e cfi.Evaluator
		if _, err := e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Register: 2}, testFrame(x86)); !errors.Is(err, cfi.ErrTruncated) {
			t.Errorf("%v", err)
		}
		if _, err := e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Offset: -1, Register: 2}, testFrame(x86)); !errors.Is(err, cfi.ErrTruncated) {
			t.Errorf("%v", err)
		}
		if v, err := e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Register: 1}, testFrame(x86)); v != 1 || err != nil {
			t.Errorf("after the faults: %d, %v", v, err)
		}
	})
	t.Run("a CFA wider than an address as the divisor", func(t *testing.T) {
		s := &cfi.Section{Name: ".eh_frame", Data: unhex(t, "31 16 1b"), Machine: i386}
		var e cfi.Evaluator
		if _, err := e.Register(s, cfi.Rule{Kind: cfi.Expression, Register: 3}, 1<<32, testFrame(i386)); !errors.Is(err, cfi.ErrExpression) {
			t.Errorf("%v", err)
		}
	})
}

func TestEvaluateDoesNotAllocate(t *testing.T) {
	s := &cfi.Section{Name: ".eh_frame", Data: unhex(t, "77 00 06 31 22"), Machine: x86}
	var f cfi.Frame = testFrame(x86)
	var e cfi.Evaluator
	if n := testing.AllocsPerRun(100, func() {
		if _, err := e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Register: 5}, f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOperations(t *testing.T) {
	s := &cfi.Section{Name: ".eh_frame", Machine: x86,
		Data: unhex(t, "ff 7778 10808004 2ffeff 92077f 9e02aabb f11b00010000 a4050178 9a00000000 02")}
	var got []string
	for o, err := range s.Operations(1, uint64(len(s.Data)-1)) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprintf("%d+%d %v %d %s", o.Offset, o.Size, o.Op, o.Operands, hex.EncodeToString(o.Block)))
	}
	want := []string{
		"0+2 DW_OP_breg7 [-8 0] ",
		"2+4 DW_OP_constu [65536 0] ",
		"6+3 DW_OP_skip [-2 0] ",
		"9+3 DW_OP_bregx [7 -1] ",
		"12+4 DW_OP_implicit_value [0 0] aabb",
		"16+6 DW_OP_GNU_encoded_addr [275 27] ",
		"22+4 DW_OP_const_type [5 0] 78",
		"26+5 DW_OP_call_ref [0 0] ",
		".eh_frame+0x20: invalid expression: unknown operation 0x02",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for o, err := range s.Operations(uint64(len(s.Data)), 1) {
		if !errors.Is(err, cfi.ErrTruncated) {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if got := cfi.Op(0x02).String(); got != "DW_OP_0x02" {
		t.Errorf("an unknown operation is %q", got)
	}
}
