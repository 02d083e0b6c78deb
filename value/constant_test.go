// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/hex"
	"testing"

	"github.com/clewdev/clew/value/internal/entry"
)

// TestBareValues reads values that clang writes without DW_OP_stack_value in DWARF 2 and 3, next to
// locations.
func TestBareValues(t *testing.T) {
	const zeros = "0000000000000000"
	for _, test := range []struct{ name, bytes, llvm, other string }{
		{"a constant", "38", "bytes 0800000000000000" + zeros + "/64", "at 0x8/64"},
		{"a negative one", "11 7f", "bytes ffffffffffffffffffffffffffffffff/64", "at 0xffffffffffffffff/64"},
		{"an entry value without a caller", "f3 01 55", "gone/64", "gone/64"},
		{"a constant after a register", "50 93 04 38 93 04", "reg0/32 bytes 0800000000000000" + zeros + "/32", "reg0/32 at 0x8/32"},
		{"a constant after memory", "91 70 93 04 38 93 04", "at 0x17f0/32 bytes 0800000000000000" + zeros + "/32", "at 0x17f0/32 at 0x8/32"},
		{"memory after a constant", "38 93 04 77 00 93 04", "bytes 0800000000000000" + zeros + "/32 at 0x1007/32", "at 0x8/32 at 0x1007/32"},
		{"DW_OP_addr", "03 0020000000000000", "at 0x102000/64", "at 0x102000/64"},
		{"DW_OP_GNU_addr_index", "fb 01", "at 0x101000/64", "at 0x101000/64"},
		{"DW_OP_call_frame_cfa", "9c", "at 0x1800/64", "at 0x1800/64"},
		{"DW_OP_deref", "77 00 06", "at 0xe0d0c0b0a090807/64", "at 0xe0d0c0b0a090807/64"},
		{"DW_OP_GNU_push_tls_address", "03 1000000000000000 e0", "at 0x1110/64", "at 0x1110/64"},
	} {
		for _, llvm := range []bool{true, false} {
			info, u := fakeInfo(3)
			u.Bare = llvm
			b := &body{unit: u, frameBase: entry.Attribute{Kind: entry.AttributeBlock, Bytes: []byte{0x9c}}}
			b.root = &node{}
			e := newEvaluator(info, u, b, &fakeFrame{})
			pieces, err := e.locate(e.program(unhex(test.bytes)), 8)
			want := test.other
			if llvm {
				want = test.llvm
			}
			if got := describe(pieces); err != nil || got != want {
				t.Errorf("%s, of LLVM: %t: %s, %v; expected %s", test.name, llvm, got, err, want)
			}
		}
	}
}

// TestExtendedConstant reads a long double of which clang writes ten bytes, without the padding.
func TestExtendedConstant(t *testing.T) {
	info, u := fakeInfo(3)
	v := &Variable{Type: Base(amd64, "long double"), info: info, unit: u,
		constant: entry.Attribute{Kind: entry.AttributeBlock, Bytes: unhex("00000000000000900040")}}
	if got, err := NewPrinter(0).Print(v.Read(&fakeFrame{})); got != "2.25" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	v.constant.Bytes = v.constant.Bytes[:9]
	if got, err := NewPrinter(0).Print(v.Read(&fakeFrame{})); got != "<optimized out>" {
		t.Errorf("of nine bytes: %q, %v", got, err)
	}
}

// TestNumberBytes extends numbers from the size of their type to 16 bytes.
func TestNumberBytes(t *testing.T) {
	info, u := fakeInfo(5)
	e := newEvaluator(info, u, nil, &fakeFrame{})
	defer e.release()
	const lo, hi = 0x8182838485868788, 0xfffffffff1f2f3f4
	for _, test := range []struct {
		size   uint64
		signed bool
		want   string
	}{
		{4, false, "88878685000000000000000000000000"},
		{4, true, "88878685ffffffffffffffffffffffff"},
		{8, false, "88878685848382810000000000000000"},
		{8, true, "8887868584838281ffffffffffffffff"},
		{10, false, "8887868584838281f4f3000000000000"},
		{12, false, "8887868584838281f4f3f2f100000000"},
		{12, true, "8887868584838281f4f3f2f1ffffffff"},
		{16, false, "8887868584838281f4f3f2f1ffffffff"},
	} {
		typ := &Type{machine: info.machine, kind: Int, size: test.size, sized: true, signed: test.signed, ready: true}
		if got := hex.EncodeToString(e.toBytes(element{lo: lo, hi: hi, typ: typ})); got != test.want {
			t.Errorf("%d bytes, signed %v: %s, expected %s", test.size, test.signed, got, test.want)
		}
	}
}
