// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// DWARF columns (psABI amd64 figure 3.36, AADWARF64 §4.1).
const (
	rax, rdx, rbx, rbp, rsp, r10, r12, rip = 0, 1, 3, 6, 7, 10, 12, 16

	x9, x19, x20, x29, x30, sp = 9, 19, 20, 29, 30, 31
)

// codeAt is the address of the tests' functions when their tables are read.
const codeAt = 0x10000

// rows are the rows of a program for size bytes of code, as text: "0: rsp+8
// ra=[-8]", offsets from the start and slots from the CFA.
func rows(tb testing.TB, p *cfi.Program, m *arch.Machine, size uint64) string {
	tb.Helper()
	e := cfi.Encoder{Machine: m}
	if err := e.Program(p, codeAt, size); err != nil {
		tb.Fatal(err)
	}
	s := &cfi.Section{Name: ".eh_frame", Data: e.Data, Machine: m}
	var out []string
	for entry, err := range s.Entries() {
		if err != nil {
			tb.Fatal(err)
		}
		if entry.FDE == nil {
			continue
		}
		var x cfi.Interpreter
		for row := range x.Rows(entry.FDE) {
			out = append(out, rowText(m, row))
		}
		if x.Err() != nil {
			tb.Fatal(x.Err())
		}
	}
	return strings.Join(out, "\n")
}

func rowText(m *arch.Machine, row *cfi.Row) string {
	if row.CFA.Kind != cfi.Register {
		return fmt.Sprintf("%d: CFA %v", row.Start-codeAt, row.CFA.Kind)
	}
	text := fmt.Sprintf("%d: %s%+d", row.Start-codeAt, m.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
	for _, r := range row.Registers {
		text += fmt.Sprintf(" %s=", m.RegisterName(uint64(r.Column)))
		switch r.Kind {
		case cfi.Offset:
			text += fmt.Sprintf("[%+d]", r.Offset)
		case cfi.Register:
			text += m.RegisterName(uint64(r.Rule.Register))
		case cfi.ValExpression:
			text += fmt.Sprintf("(% x)", row.Expression(r.Rule))
		default:
			text += r.Kind.String()
		}
	}
	return text
}

// procedure returns a procedure of size bytes at 0.
func procedure(size uint64, regions ...*region.Region) *region.Procedure {
	return &region.Procedure{Name: "f", End: size, Regions: region.List(regions...)}
}

func ops(count int32, ops ...region.Op) *region.Region { return &region.Region{Count: count, Ops: ops} }
