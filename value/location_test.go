// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

var amd64 = arch.Lookup(62, 2, 1) // EM_X86_64, ELFCLASS64, little-endian

// fakeFrame has memory from 0x1000 to 0x2000, in which each byte is the lowest byte of its address,
// registers with the value 0x1000 plus their column, and a vector register in column 17.
type fakeFrame struct {
	caller  *fakeFrame
	written map[uint64][]byte
	regs    map[uint64][]byte
}

var errFake = errors.New("nothing there")

func (f *fakeFrame) ReadMemory(p []byte, addr uint64) error {
	if addr < 0x1000 || addr+uint64(len(p)) > 0x2000 {
		return errFake
	}
	for k := range p {
		p[k] = byte(addr + uint64(k))
	}
	return nil
}

func (f *fakeFrame) Register(column uint64) (uint64, bool) {
	return 0x1000 + column, column < 16
}

func (f *fakeFrame) RegisterBytes(column uint64) ([]byte, bool) {
	if column != 17 {
		return nil, false
	}
	b := make([]byte, 16)
	for k := range b {
		b[k] = 0xa0 + byte(k)
	}
	return b, true
}

func (f *fakeFrame) ProgramCounter() (pc, lookup uint64) { return 0x400010, 0x400010 }
func (f *fakeFrame) CFA() (uint64, bool)                 { return 0x1800, true }
func (f *fakeFrame) Info() *Info                         { return nil }
func (f *fakeFrame) Bias() uint64                        { return 0x100000 }
func (f *fakeFrame) ThreadAddress(offset uint64) (uint64, error) {
	return 0x1100 + offset, nil
}
func (f *fakeFrame) Caller() Frame {
	if f.caller == nil {
		return nil
	}
	return f.caller
}
func (f *fakeFrame) WriteMemory(p []byte, addr uint64) error {
	f.written[addr] = append([]byte(nil), p...)
	return nil
}
func (f *fakeFrame) SetRegisterBytes(column uint64, p []byte) error {
	f.regs[column] = append([]byte(nil), p...)
	return nil
}

// The base types of fakeInfo by their offset in the unit.
const (
	typeInt    = 0x20
	typeDouble = 0x30
	typeFloat  = 0x38
	typeInt128 = 0x40
	typeUint8  = 0x48
)

// fakeInfo is an Info without a file: a unit with some base types, addresses,
// and location lists.
func fakeInfo(version int) (*Info, *entry.Unit) {
	u := &entry.Unit{Start: 0, End: 0x1000, First: 12, Version: version, Width: 8, Base: 0x400000,
		Entry: &object.DebugEntry{}, AddrBase: 8, LoclistsBase: 4}
	i := &Info{machine: amd64, entries: entry.Reader{Machine: amd64, Units: []*entry.Unit{u}},
		types: make(map[object.DebugOffset]*Type), bodies: make(map[object.DebugOffset]*body)}
	base := func(off object.DebugOffset, kind Kind, size uint64, signed bool) {
		i.types[off] = &Type{machine: amd64, kind: kind, size: size, sized: true, signed: signed, ready: true}
	}
	base(typeInt, Int, 4, true)
	base(typeDouble, Float, 8, false)
	base(typeFloat, Float, 4, false)
	base(typeInt128, Int, 16, true)
	base(typeUint8, Int, 1, false)
	i.entries.Addresses = unhex("0000000000000000" + "1122334455667788" + "0010000000000000")
	return i, u
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// describe writes pieces for a table.
func describe(pieces []Piece) string {
	var list []string
	for _, p := range pieces {
		s := ""
		switch p.Kind {
		case OptimizedOut:
			s = "gone"
		case InMemory:
			s = fmt.Sprintf("at %#x", p.Address)
		case InRegister:
			s = fmt.Sprintf("reg%d", p.Column)
		case InBytes:
			s = fmt.Sprintf("bytes %x", p.Bytes)
		case ImplicitPointer:
			s = fmt.Sprintf("pointer to %#x%+d", uint64(p.entry), p.offset)
		}
		s += fmt.Sprintf("/%d", p.BitSize)
		if p.BitOffset != 0 {
			s += fmt.Sprintf("@%d", p.BitOffset)
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// TestLocations evaluates location descriptions for a value of eight bytes.
func TestLocations(t *testing.T) {
	one := "00 00000000000000" // the part of a number of 16 bytes after its low byte
	one = strings.ReplaceAll(one, " ", "")[:14] + "0000000000000000"
	tests := []struct {
		name, bytes, want string
	}{
		{"empty: optimized out", "", "gone/64"},
		{"DW_OP_addr", "03 0020000000000000", "at 0x102000/64"},
		{"DW_OP_addrx", "a1 00", "at 0x8877665544432211/64"},
		{"DW_OP_GNU_addr_index", "fb 01", "at 0x101000/64"},
		{"DW_OP_constx", "a2 01 9f", "bytes 0010000000000000" + "0000000000000000/64"},
		{"DW_OP_reg3", "53", "reg3/64"},
		{"DW_OP_regx", "90 11", "reg17/64"},
		{"DW_OP_breg7", "77 7f", "at 0x1006/64"},
		{"DW_OP_bregx", "92 06 8001", "at 0x1086/64"},
		{"a register that is not known", "92 20 00", "gone/64"},
		{"DW_OP_fbreg over DW_OP_call_frame_cfa", "91 70", "at 0x17f0/64"},
		{"DW_OP_call_frame_cfa", "9c", "at 0x1800/64"},
		{"DW_OP_implicit_value", "9e 02 abcd", "bytes abcd/64"},
		{"DW_OP_stack_value", "31 9f", "bytes 01" + one + "/64"},
		{"a negative one", "11 7f 9f", "bytes ffffffffffffffffffffffffffffffff/64"},
		{"pieces", "50 93 04 93 02 77 00 93 02", "reg0/32 gone/16 at 0x1007/16"},
		{"bit pieces", "50 9d 03 05 31 9f 9d 05 00", "reg0/3@5 bytes 01" + one + "/5"},
		{"DW_OP_implicit_pointer", "a0 34120000 04", "pointer to 0x1234+4/64"},
		{"DW_OP_GNU_implicit_pointer", "f2 34120000 7c", "pointer to 0x1234-4/64"},
		{"DW_OP_deref", "77 00 06", "at 0xe0d0c0b0a090807/64"},
		{"DW_OP_deref_size", "77 00 94 02", "at 0x807/64"},
		{"DW_OP_form_tls_address", "0e 1000000000000000 9b", "at 0x1110/64"},
		{"DW_OP_GNU_push_tls_address, without a bias", "03 1000000000000000 e0", "at 0x1110/64"},
		{"DW_OP_GNU_uninit after a register", "50 f0", "reg0/64"},
		{"DW_OP_nop", "96 50", "reg0/64"},
		{"DW_OP_plus_uconst", "31 23 8001", "at 0x81/64"},
		{"dup over pick swap rot drop", "31 32 33 17 16 14 15 03 12 13 1c 22 22 1c", "at 0x1/64"},
		{"abs neg not", "11 7b 19 1f 20", "at 0x4/64"},
		{"and or xor plus minus mul", "3f 39 1a 32 21 33 27 34 22 31 1c 32 1e", "at 0x16/64"},
		{"div is signed", "11 78 32 1b 9f", "bytes fcffffffffffffffffffffffffffffff/64"},
		{"mod is unsigned", "11 7f 3a 1d", "at 0x5/64"},
		{"shl shr shra", "11 70 32 26 32 25 31 24 9f", "bytes feffffffffffff7f0000000000000000/64"},
		{"eq ne lt le gt ge", "31 32 2d 31 29 30 2e 30 2b 30 2a 31 2c", "at 0x1/64"},
		{"lt is signed", "11 7f 30 2d", "at 0x1/64"},
		{"skip", "31 2f 0100 32 33", "at 0x3/64"},
		{"bra", "31 30 28 0100 32 33", "at 0x3/64"},
		{"bra back, to an end", "33 31 1c 12 28 faff", "at 0x0/64"},
		{"DW_OP_const_type, DW_OP_convert to int", "a4 30 08 000000000000f0bf a8 20 9f", "bytes ffffffffffffffffffffffffffffffff/64"},
		{"DW_OP_convert to double", "a4 20 04 fdffffff a8 30 9f", "bytes 00000000000008c00000000000000000/64"},
		{"DW_OP_convert to float", "a4 30 08 000000000000f83f a8 38 9f", "bytes 0000c03f000000000000000000000000/64"},
		{"DW_OP_convert to the generic type", "a4 20 04 fdffffff a8 00 9f", "bytes fdffffffffffffffffffffffffffffff/64"},
		{"DW_OP_regval_type", "a5 11 30 9f", "bytes a0a1a2a3a4a5a6a70000000000000000/64"},
		{"DW_OP_GNU_regval_type, of a general register", "f5 01 48 9f", "bytes 01" + one + "/64"},
		{"DW_OP_deref_type", "77 00 a6 04 20 9f", "bytes 0708090a000000000000000000000000/64"},
		{"DW_OP_reinterpret", "a4 38 04 0000803f a9 20 9f", "bytes 0000803f000000000000000000000000/64"},
		{"arithmetic of doubles", "a4 30 08 000000000000f03f 12 22 9f", "bytes 00000000000000400000000000000000/64"},
		{"arithmetic of bytes wraps", "a4 48 01 ff a4 48 01 02 22 9f", "bytes 01" + one + "/64"},
		{"sixteen bytes", "a4 40 10 000102030405060708090a0b0c0d0e0f 9f", "bytes 000102030405060708090a0b0c0d0e0f/64"},

		{"entry value without a caller", "a3 01 55 9f", "gone/64"},
		{"GNU entry value without a caller", "f3 01 55 9f", "gone/64"},

		{"an empty stack", "22", "invalid location expression: an empty stack, expected a value"},
		{"an unknown operation", "31 fe", "invalid location expression: expression+0x1: invalid expression: unknown operation 0xfe"},
		{"an operand that is cut", "31 0a 00", "invalid location expression: expression+0x2: truncated: 1 bytes are left, expected 2"},
		{"a loop without end", "2f fdff", "invalid location expression: more than 10000 steps"},
		{"a jump out", "2f 1000", "invalid location expression: DW_OP_skip at 0x0 leads to no operation"},
		{"a jump into an operand", "2f 0100 0a 0000", "invalid location expression: DW_OP_skip at 0x0 leads to no operation"},
		{"a stack without end", "31 12 2f fcff", "invalid location expression: the stack is deeper than 64"},
		{"division by zero", "31 30 1b", "invalid location expression: DW_OP_div by zero"},
		{"an operation after a location", "50 31", "invalid location expression: DW_OP_lit1 after a location"},
		{"DW_OP_xderef", "31 32 18", "invalid location expression: DW_OP_xderef has no meaning here"},
		{"DW_OP_push_object_address", "97", "invalid location expression: DW_OP_push_object_address without an object"},
		{"memory that is not there", "30 06", "cannot access memory at address 0x0"},
		{"a type that is none", "31 a8 8020", "invalid location expression: type at 0x1000 is not a base type"},
		{"unlike types", "a4 30 08 000000000000f03f 31 22", "invalid location expression: DW_OP_plus of unlike types"},
		{"a huge piece", "50 93 ffffffffffffffff7f", "invalid location expression: piece 0 of 9223372036854775808 bits at bit 0"},
		{"an entry value of arithmetic", "a3 03 313222 9f", "invalid location expression: entry value of an expression that is not a register"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info, u := fakeInfo(5)
			b := &body{unit: u, frameBase: entry.Attribute{Kind: entry.AttributeBlock, Bytes: []byte{0x9c}}}
			b.root = &node{}
			e := newEvaluator(info, u, b, &fakeFrame{})
			pieces, err := e.locate(e.program(unhex(test.bytes)), 8)
			got := describe(pieces)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.bytes, got, test.want)
			}
		})
	}
}

// TestLists finds expressions in location lists, at 0x400010.
func TestLists(t *testing.T) {
	const (
		end  = "0000000000000000 0000000000000000"
		base = "ffffffffffffffff 0000500000000000"
	)
	tests := []struct {
		name    string
		version int
		bytes   string
		want    string
	}{
		{"two entries", 4, "0000000000000000 1000000000000000 0100 50" + "1000000000000000 2000000000000000 0100 51" + end, "51"},
		{"the address after the last", 4, "0000000000000000 1000000000000000 0100 50" + end, "none"},
		{"base address selection", 4, base + "1000000000000000 2000000000000000 0100 50" + "1000b0ffffffffff 2000f0ffffffffff 0100 51" + end, "51"},
		{"an expression that is cut", 4, "0000000000000000 2000000000000000 ff00 50", "invalid debugging information: .debug_loc+0x12: 1 bytes are left, expected 255"},
		{"no end", 4, "0000000000000000 1000000000000000 0100 50", "invalid debugging information: .debug_loc+0x13: 0 bytes are left, expected 8"},
		{"DW_LLE_offset_pair", 5, "04 00 10 01 50 04 10 20 01 51 00", "51"},
		{"DW_LLE_base_address", 5, "06 0000500000000000 04 10 20 01 50 06 0000400000000000 04 10 20 01 51 00", "51"},
		{"DW_LLE_base_addressx", 5, "01 01 04 80e0ff01 ffffffff0f 01 51 00", "51"},
		{"DW_LLE_start_end", 5, "07 1000400000000000 1100400000000000 01 51 00", "51"},
		{"DW_LLE_start_length", 5, "08 0000400000000000 11 01 51 00", "51"},
		{"DW_LLE_startx_length", 5, "03 01 ffffffff0f 01 51 00", "51"},
		{"DW_LLE_startx_endx", 5, "02 01 00 01 51 00", "51"},
		{"DW_LLE_default_location", 5, "05 01 52 04 20 30 01 50 00", "52"},
		{"DW_LLE_GNU_view_pair", 5, "09 01 02 04 10 20 01 51 00", "51"},
		{"none", 5, "00", "none"},
		{"an unknown kind", 5, "0a", "invalid debugging information: .debug_loclists+0x1: entry of kind 10"},
		{"no end", 5, "04 00 10 01 50", "invalid debugging information: .debug_loclists+0x5: 0 bytes are left, expected 1"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("DWARF %d %s", test.version, test.name), func(t *testing.T) {
			info, u := fakeInfo(test.version)
			u.Lists = unhex(test.bytes)
			b, ok, err := info.entries.Listed(u, 0, 0x400010)
			got := hex.EncodeToString(b)
			switch {
			case err != nil:
				got = err.Error()
			case !ok:
				got = "none"
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAssign writes values to their places.
func TestAssign(t *testing.T) {
	intType, long := Base(amd64, "int"), Base(amd64, "long")
	f := &fakeFrame{}
	split := Value{typ: long, frame: f, pieces: []Piece{
		{Kind: InRegister, Column: 1, BitSize: 16}, {Kind: InMemory, Address: 0x1100, BitSize: 16}, {Kind: InRegister, Column: 17, BitSize: 32, BitOffset: 32}}}
	bits := Value{typ: intType, frame: f, pieces: []Piece{{Kind: InMemory, Address: 0x1100, BitSize: 64}}, bitOffset: 13, bitSize: 6}
	tests := []struct {
		name  string
		value Value
		bytes string
		want  string
	}{
		{"memory", At(intType, 0x1200, f), "01020304", "map[4608:01020304] map[]"},
		{"a register", Value{typ: intType, frame: f, pieces: []Piece{{Kind: InRegister, Column: 3, BitSize: 32}}}, "01020304", "map[] map[3:0102030400000000]"},
		{"pieces", split, "0102030405060708", "map[4352:0304] map[1:0102000000000000 17:a0a1a2a305060708a8a9aaabacadaeaf]"},
		{"a bit field", bits, "15000000", "map[4353:a102] map[]"},
		{"a constant", Constant(intType, unhex("00000000"), f), "01020304", "value is not an lvalue: value is not located in memory"},
		{"optimized out", Value{typ: intType, frame: f, pieces: []Piece{{BitSize: 32}}}, "01020304", "value has been optimized out"},
		{"too few bytes", At(intType, 0x1200, f), "0102", "type mismatch: 2 bytes for a value of 4"},
		{"memory that is not there", At(intType, 0x10, f), "01020304", "cannot access memory at address 0x10"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &fakeFrame{written: make(map[uint64][]byte), regs: make(map[uint64][]byte)}
			err := test.value.Assign(w, unhex(test.bytes))
			var got string
			if err != nil {
				got = err.Error()
			} else {
				written, regs := make(map[uint64]string), make(map[uint64]string)
				for a, b := range w.written {
					written[a] = hex.EncodeToString(b)
				}
				for a, b := range w.regs {
					regs[a] = hex.EncodeToString(b)
				}
				got = fmt.Sprint(written, regs)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestConversions casts values.
func TestConversions(t *testing.T) {
	p := NewPrinter(0)
	f := &fakeFrame{}
	tests := []struct {
		from Value
		to   *Type
		want string
	}{
		{IntValue(Base(amd64, "int"), math.MaxUint64, f), Base(amd64, "unsigned char"), `255 '\377'`},
		{IntValue(Base(amd64, "int"), math.MaxUint64, f), Base(amd64, "long"), "-1"},
		{IntValue(Base(amd64, "int"), math.MaxUint64, f), Base(amd64, "__int128"), "-1"},
		{IntValue(Base(amd64, "unsigned int"), math.MaxUint64, f), Base(amd64, "__int128"), "4294967295"},
		{IntValue(Base(amd64, "int"), 7, f), Base(amd64, "double"), "7"},
		{FloatValue(Base(amd64, "double"), -2.75, f), Base(amd64, "int"), "-2"},
		{FloatValue(Base(amd64, "double"), -2.75, f), Base(amd64, "float"), "-2.75"},
		{FloatValue(Base(amd64, "double"), -2.75, f), Base(amd64, "long double"), "-2.75"},
		{FloatValue(Base(amd64, "long double"), 0.5, f), Base(amd64, "double"), "0.5"},
		{IntValue(Base(amd64, "int"), 2, f), Base(amd64, "_Bool"), "true"},
		{IntValue(Base(amd64, "long"), 0x1234, f), PointerTo(Base(amd64, "int")), "(int *) 0x1234"},
		{At(ArrayOf(Base(amd64, "int"), 3), 0x1500, f), PointerTo(Base(amd64, "long")), "(long *) 0x1500"},
		{At(ArrayOf(Base(amd64, "int"), 3), 0x1500, f), Base(amd64, "int"), "5376"},
	}
	for _, test := range tests {
		got, err := p.Print(test.from.Cast(test.to))
		if err != nil || got != test.want {
			t.Errorf("%s to %s: %s, %v; want %s", test.from.Type(), test.to, got, err, test.want)
		}
	}
}
