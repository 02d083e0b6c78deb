// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"debug/elf"
	"fmt"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// address is the address of the tests' code, far from the system's mappings.
const address = 0x10_0000_0000

// caller is a function of amd64 that calls its argument: sub $24,%rsp; call
// *%rdi; add $24,%rsp; ret. It keeps no frame pointer.
const caller = "\x48\x83\xec\x18\xff\xd7\x48\x83\xc4\x18\xc3"

func callerProgram(tb testing.TB, m *arch.Machine) *cfi.Program {
	tb.Helper()
	p, err := cfi.NewBuilder(cfi.EntryCIE(m)).At(4).AdjustCFAOffset(24).At(8).AdjustCFAOffset(-24).Program()
	if m == amd64 {
		p, err = cfi.NewBuilder(cfi.EntryCIE(m)).At(4).AdjustCFAOffset(24).At(10).AdjustCFAOffset(-24).Program()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// callers returns a batch of n functions f0, f1, ... with the given number of bytes
// between them. Their lines are in two files, f0 at line 10 of the first.
func callers(tb testing.TB, m *arch.Machine, n, gap int, lines bool) *jit.Code {
	tb.Helper()
	c := &jit.Code{Name: "callers", Machine: m, Address: address}
	p := callerProgram(tb, m)
	code := caller
	if m == arm64 {
		// sub sp,sp,#24... stands for any 16 bytes.
		code = "\xff\x83\x00\xd1\x00\x00\x3f\xd6\xff\x83\x00\x91\xc0\x03\x5f\xd6"
	}
	for i := range n {
		f := jit.Function{Name: fmt.Sprintf("f%d", i), Offset: uint64(len(c.Text)), Size: uint64(len(code)), Unwind: p}
		if lines {
			file := fmt.Sprintf("/src/file%d.w", i%2)
			line := 10 + 4*(i/2)
			f.Lines = []jit.Line{
				{Offset: 0, File: file, Line: line, Column: 1},
				{Offset: 4, File: file, Line: line + 1, Column: 3},
				{Offset: 6, File: file, Line: line + 2},
			}
			if m == arm64 {
				f.Lines[2].Offset = 8
			}
		}
		c.Functions = append(c.Functions, f)
		c.Text = append(c.Text, code...)
		c.Text = append(c.Text, make([]byte, gap)...)
	}
	return c
}

// inlined is callers whose call is in inner, which is inlined in outer, which is inlined.
func inlined(tb testing.TB, m *arch.Machine, n int) *jit.Code {
	c := callers(tb, m, n, 0, true)
	for i := range c.Functions {
		f := &c.Functions[i]
		file := fmt.Sprintf("/src/file%d.w", i%2)
		outer := &jit.Call{Function: "outer", File: file, Line: 100 + i, Column: 7}
		inner := &jit.Call{Function: fmt.Sprintf("inner%d", i%3), File: "/src/outer.w", Line: 31, Outer: outer}
		after := f.Lines[2].Offset
		f.Lines = []jit.Line{
			{Offset: 0, File: file, Line: 99 + i},
			{Offset: 4, File: "/src/nothing.w", Line: 1, Inlined: &jit.Call{Function: "nothing", File: file, Line: 1}}, // no code
			{Offset: 4, File: "/src/inner.w", Line: 41, Inlined: inner},
			{Offset: after, File: "/src/outer.w", Line: 32, Inlined: outer},
			{Offset: f.Size - 1, File: file, Line: 101 + i},
		}
		if m == arm64 {
			f.Lines[4].Offset = f.Size - 4
		}
	}
	return c
}
