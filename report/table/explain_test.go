// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

// explainAll explains the first address of every row of a function.
func explainAll(t *testing.T, out *bytes.Buffer, f table.Function) {
	t.Helper()
	var x cfi.Interpreter
	var starts []uint64
	for row := range x.Rows(f.FDE) {
		starts = append(starts, row.Start)
	}
	for _, pc := range starts {
		e, err := table.Explain(f, pc)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Words(out, style.Palette{}, 100); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
		if err := e.Drawing(out, style.Palette{}); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
}

func TestExplainGolden(t *testing.T) {
	for _, name := range []string{"directives", "expressions"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, testprogram.Assemble(t, "asm/"+name+".s"))
			var out bytes.Buffer
			for function := range list(t, f, table.Selection{}).Covering(0) {
				explainAll(t, &out, function)
			}
			outputtest.Golden(t, name+".explain", out.Bytes(), *update)
		})
	}
}

// Frames of other machines.
func TestExplainMachines(t *testing.T) {
	var out bytes.Buffer
	for _, test := range []struct {
		machine elf.Machine
		class   elf.Class
		data    elf.Data
		bytes   string
	}{
		// CPython's unwind table for its JIT's code.
		{elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB,
			"14000000 00000000 017a5200 04781e01 1b0c1f00 00000000" +
				"1c000000 1c000000 00200000 40000000 00 410e109d029e01 430d1ddedd0c1f00"},
		// paciasp; the return address is signed from the second instruction on.
		{elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB,
			"14000000 00000000 017a5200 04781e01 1b0c1f00 00000000" +
				"18000000 1c000000 00200000 40000000 00 412d 410e209e03 00000000"},
		// The caller's register save area lies between its stack pointer and the CFA.
		{elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB,
			"00000014 00000000 017a5200 01780e01 1b0c0fa0 01000000" +
				"0000001c 0000001c 00002000 00000040 00 46860e870d 8e068f05 4a0ed802 0000"},
		// A stack that grows upward.
		{elf.EM_PARISC, elf.ELFCLASS32, elf.ELFDATA2MSB,
			"00000014 00000000 017a5200 01040201 1b0c1e00 00000000" +
				"00000014 0000001c 00002000 00000040 00 4411027b43 0d03"},
		// Floating-point registers that are wider than a general one.
		{elf.EM_PPC, elf.ELFCLASS32, elf.ELFDATA2MSB,
			"00000014 00000000 017a5200 047c4101 1b0c0100 00000000" +
				"0000001c 0000001c 00002000 00000040 00 440e20 1141 7f be 04 9f 01 0000000000"},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(test.bytes, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		m := arch.Lookup(test.machine, test.class, test.data)
		s := &cfi.Section{Name: ".eh_frame", Data: data, Machine: m}
		fmt.Fprintf(&out, "=== %s\n", m.Name)
		var fde cfi.FDE
		if err := s.FDEAt(0x18, &fde); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		explainAll(t, &out, table.Function{FDE: &fde, Symbol: "f"})
	}
	outputtest.Golden(t, "machines.explain", out.Bytes(), *update)
}

func TestExplainErrors(t *testing.T) {
	s := ehFrame(cie + fde(0x18, 0x1000, 0x10, "\x41\x0e\x10\x41\x0b"))
	var f cfi.FDE
	if err := s.FDEAt(0x18, &f); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Explain(table.Function{FDE: &f}, 0x1010); !errors.Is(err, cfi.ErrNoFDE) {
		t.Errorf("after the function: %v", err)
	}
	// A malformed instruction after a row does not affect it.
	for pc, ok := range map[uint64]bool{0x1000: true, 0x1001: true, 0x1002: false} {
		e, err := table.Explain(table.Function{FDE: &f}, pc)
		if ok != (err == nil) || ok != (e != nil) {
			t.Errorf("%#x: %v", pc, err)
		}
		if !ok && !errors.Is(err, cfi.ErrInstruction) {
			t.Errorf("%#x: %v, expected ErrInstruction", pc, err)
		}
	}
}

// The origin of a rule is the instruction that set it, even after a restore_state.
func TestOrigins(t *testing.T) {
	// 0x31: advance; def_cfa_offset 16; offset rbp; remember; 0x37: advance;
	// def_cfa_offset 8; restore rbp; 0x3b: advance; restore_state
	s := ehFrame(cie + fde(0x18, 0x1000, 0x10, "\x41\x0e\x10\x86\x02\x0a\x41\x0e\x08\xc6\x41\x0b"))
	var f cfi.FDE
	if err := s.FDEAt(0x18, &f); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		pc       uint64
		cfa, rbp uint64 // offsets in the section, 0 for none
		inCIE    bool
	}{
		{0x1000, 0x11, 0, true},
		{0x1001, 0x32, 0x34, false},
		{0x1002, 0x38, 0, false},
		{0x1003, 0x32, 0x34, false},
	} {
		e, err := table.Explain(table.Function{FDE: &f}, test.pc)
		if err != nil {
			t.Fatal(err)
		}
		if e.CFA.From.Offset != test.cfa || e.CFA.From.InCIE != test.inCIE {
			t.Errorf("%#x: the CFA comes from %+v, want %#x", test.pc, e.CFA.From, test.cfa)
		}
		rbp, ok := e.Register(6)
		if ok != (test.rbp != 0) || rbp.From.Offset != test.rbp {
			t.Errorf("%#x: rbp comes from %+v, want %#x", test.pc, rbp.From, test.rbp)
		}
	}
}

func TestFind(t *testing.T) {
	f := open(t, testprogram.Assemble(t, "asm/directives.s"))
	sections, err := f.CFISections()
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]uint64{
		"0x13": 0x13, "19": 0x13, "directives": 0, "simple": 0x12, "simple+1": 0x13, "simple+0x1": 0x13,
	} {
		functions, pc, err := table.Find(sections, f, place)
		if err != nil || pc != want || len(functions) != 1 {
			t.Errorf("%s: %#x, %d functions, %v", place, pc, len(functions), err)
		}
	}
	for place, want := range map[string]error{
		"nothing": table.ErrNoFunction, "simple+x": table.ErrNoFunction, "abc": table.ErrNoFunction,
		"": table.ErrNoFunction, "0x10000": cfi.ErrNoFDE, "simple+0x10000": cfi.ErrNoFDE,
	} {
		if functions, _, err := table.Find(sections, f, place); !errors.Is(err, want) || functions != nil {
			t.Errorf("%s: %v, want %v", place, err, want)
		}
	}
}
