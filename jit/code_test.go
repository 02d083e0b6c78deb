// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit_test

import (
	"debug/elf"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

func TestCheck(t *testing.T) {
	entry, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).At(8).DefCFAOffset(16).Program()
	if err != nil {
		t.Fatal(err)
	}
	damaged := cfi.NewCIE(amd64)
	damaged.Instructions = []byte{byte(cfi.CFADefCFA)}
	ranges := []jit.Range{{Address: 0x2000, Text: make([]byte, 16)}, {Address: 0x3000, Text: make([]byte, 16)}}
	circle := &jit.Call{Function: "g", File: "f", Line: 1}
	circle.Outer = circle
	f := func(name string, offset, size uint64) jit.Function {
		return jit.Function{Name: name, Offset: offset, Size: size}
	}
	for _, test := range []struct {
		name string
		code jit.Code
		want string // of the error; "" for none
	}{
		{"good", jit.Code{Functions: []jit.Function{f("a", 0, 16), f("b", 16, 32), f("c", 63, 1)}}, ""},
		{"tables and lines", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Unwind: entry,
			Lines: []jit.Line{{Offset: 0, File: "a.f", Line: 1}, {Offset: 0}, {Offset: 7, File: "b.f", Line: 2}}}}}, ""},

		{"no function", jit.Code{}, "it has no functions"},
		{"a batch with NUL", jit.Code{Name: "a\x00", Functions: []jit.Function{f("a", 0, 1)}}, `the name "a\x00" contains a NUL`},
		{"the end of the address space", jit.Code{Address: ^uint64(0) - 8, Functions: []jit.Function{f("a", 0, 1)}},
			"0x40 bytes at 0xfffffffffffffff7 pass the end of the address space"},
		{"no name", jit.Code{Functions: []jit.Function{f("", 8, 1)}}, `function 0 at 0x1008: it has no name`},
		{"a name with NUL", jit.Code{Functions: []jit.Function{f("a\x00b", 8, 1)}}, `function "a\x00b" at 0x1008: its name contains a NUL`},
		{"empty", jit.Code{Functions: []jit.Function{f("a", 0, 16), f("", 8, 0), f("b", 16, 8)}}, ""},
		{"two at fault", jit.Code{Functions: []jit.Function{f("a", 8, 8), f("b", 0, 8), f("c", 12, 8), f("d", 16, 8)}},
			`function "b" at 0x1000: it starts at offset 0x0, before "a", which precedes it in the list` + "\n" +
				`function "c" at 0x100c: it starts at offset 0xc, inside "a", which ends at 0x10`},
		{"ranges", jit.Code{Ranges: ranges, Functions: []jit.Function{f("a", 0, 16), {Name: "b", Range: 1, Offset: 4, Size: 12}, {Name: "c", Range: 2, Size: 1}}}, ""},
		{"ranges out of order", jit.Code{Ranges: []jit.Range{ranges[1], ranges[0]}, Functions: []jit.Function{f("a", 0, 16)}},
			"range 2, 0x10 bytes at 0x2000, is empty or not after range 1, 0x10 bytes at 0x3000"},
		{"functions of ranges", jit.Code{Ranges: ranges, Functions: []jit.Function{{Name: "a", Range: 1, Offset: 8, Size: 9}, {Name: "b", Range: 2, Size: 8},
			{Name: "c", Range: 1, Size: 8}, {Name: "d", Range: 3, Size: 8}}},
			`function "a" at 0x2008: it is 0x9 bytes at offset 0x8, outside the 0x10 bytes of the batch's text` + "\n" +
				`function "c" at 0x2000: it is in range 1, before "b", which precedes it in the list` + "\n" +
				`function "d" at 0x0: it is in range 3 of 3`},
		{"an inlined call", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{
			{Inlined: &jit.Call{Function: "g", File: "f", Line: 1, Outer: &jit.Call{Function: "h", File: "f"}}}}}}},
			`function "a" at 0x1000: the line at +0x0: the inlined call of "h" is at "f", line 0, column 0, expected a file and a line from 1 on`},
		{"inlined calls in a circle", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{Inlined: circle}}}}},
			`function "a" at 0x1000: the line at +0x0: more than 256 inlined calls in each other`},
		{"a CIE that does not decode", jit.Code{Functions: []jit.Function{{Name: "a", Size: 16, Unwind: &cfi.Program{CIE: damaged}}}},
			`function "a" at 0x1000: the instructions of its CIE: instructions+0x1: truncated: no byte is left, expected 1`},
		{"overlap", jit.Code{Functions: []jit.Function{f("a", 0, 16), f("b", 15, 1)}},
			`function "b" at 0x100f: it starts at offset 0xf, inside "a", which ends at 0x10`},
		{"order", jit.Code{Functions: []jit.Function{f("a", 8, 8), f("b", 0, 8)}},
			`function "b" at 0x1000: it starts at offset 0x0, before "a", which precedes it in the list`},
		{"outside", jit.Code{Functions: []jit.Function{f("a", 60, 5)}},
			`function "a" at 0x103c: it is 0x5 bytes at offset 0x3c, outside the 0x40 bytes of the batch's text`},
		{"far outside", jit.Code{Functions: []jit.Function{f("a", 60, ^uint64(0)-8)}},
			`function "a" at 0x103c: it is 0xfffffffffffffff7 bytes at offset 0x3c, outside the 0x40 bytes of the batch's text`},
		{"a row past the end", jit.Code{Functions: []jit.Function{{Name: "a", Size: 7, Unwind: entry}}},
			`function "a" at 0x1000: its unwind table has a row at +0x8, past its 0x7 bytes of code`},
		{"a table for another machine", jit.Code{Machine: arm64, Functions: []jit.Function{{Name: "a", Size: 12, Unwind: entry}}},
			`function "a" at 0x1000: its unwind table is not for ` + arm64.Name},
		{"a table that does not decode", jit.Code{Functions: []jit.Function{{Name: "a", Size: 16, Unwind: &cfi.Program{CIE: entry.CIE, Instructions: []byte{0x0e}}}}},
			`function "a" at 0x1000: the instructions of its unwind table: instructions+0x1: truncated: no byte is left, expected 1`},
		{"a table that does not decode, after one that does", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Unwind: entry}, {Name: "b", Offset: 8, Size: 8, Unwind: &cfi.Program{CIE: entry.CIE, Instructions: []byte{0x3f}}}}},
			`function "b" at 0x1008: the instructions of its unwind table: instructions+0x0: invalid instruction: unknown operation 0x3f`},
		{"a table without a CIE", jit.Code{Functions: []jit.Function{{Name: "a", Size: 12, Unwind: new(cfi.Program)}}},
			`function "a" at 0x1000: its unwind table has no CIE; a cfi.Builder makes complete tables`},
		{"a line past the end", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{Offset: 8}}}}},
			`function "a" at 0x1000: a line at +0x8, past its 0x8 bytes of code`},
		{"lines out of order", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{Offset: 4}, {Offset: 2}}}}},
			`function "a" at 0x1000: the line at +0x2 follows one at +0x4`},
		{"a negative line", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{Line: -1}}}}},
			`function "a" at 0x1000: a negative line or column at +0x0`},
		{"a file with NUL", jit.Code{Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{File: "\x00"}}}}},
			`function "a" at 0x1000: the file name "\x00" contains a NUL`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.code
			if c.Machine == nil {
				c.Machine = amd64
			}
			if c.Address == 0 {
				c.Address = 0x1000
			}
			c.Text = make([]byte, 0x40)
			err := c.Check()
			if err == nil {
				if test.want != "" {
					t.Errorf("no error, expected %s", test.want)
				}
				return
			}
			if !errors.Is(err, jit.ErrCode) {
				t.Errorf("%v is not an ErrCode", err)
			}
			if got := strings.ReplaceAll(err.Error(), jit.ErrCode.Error()+": ", ""); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCheckLineBeyondDebuggers(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int holds no such line")
	}
	last := math.MaxInt32
	c := jit.Code{Machine: amd64, Address: 0x1000, Text: make([]byte, 8),
		Functions: []jit.Function{{Name: "a", Size: 8, Lines: []jit.Line{{File: "f", Line: last, Column: last}}}}}
	if err := c.Check(); err != nil {
		t.Errorf("the last line that debuggers know: %v", err)
	}
	c.Functions[0].Lines[0].Line++
	if err := c.Check(); !errors.Is(err, jit.ErrCode) || !strings.Contains(err.Error(), "line 2147483648, column 2147483647 at +0x0, more than 31 bits") {
		t.Errorf("the next one: %v", err)
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	c := jit.Code{Machine: amd64, Text: make([]byte, 0x1000)}
	for i := range 64 {
		c.Functions = append(c.Functions, jit.Function{Name: "f", Offset: uint64(i) * 64, Size: 64,
			Lines: []jit.Line{{File: "f.f", Line: i + 1}}})
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
