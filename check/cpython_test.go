// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package check_test

import (
	"debug/elf"
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/jit"
)

// cpythonShim is the code through which CPython 3.15 enters JIT code, as LLVM compiles
// Tools/jit/shim.c. The call leads to the executor, directly after the shim.
var cpythonShim = map[string]struct {
	code     string
	body     uint64 // offset from which on the frame is that of preset.CPythonShim
	executor string
}{
	"amd64": {"55 4889e5 4157 4156 4155 4154 53 50 4989fc 4989f5 4989d6 e80f000000 4883c408 5b 415c 415d 415e 415f 5d c3", 4,
		"4155 4d89e5 415d c3"}, // push r13; mov r13, r12; pop r13; ret
	"arm64": {"ef3bb66d f65708a9 f50301aa f60302aa f44f09a9 f40300aa ed33016d eb2b026d e923036d fd7b04a9 fd030191 fc6f05a9 fa6706a9 f85f07a9 0c000094" +
		"f44f49a9 f65748a9 f85f47a9 fa6746a9 fc6f45a9 fd7b44a9 e923436d eb2b426d ed33416d ef3bca6c c0035fd6", 0x2c,
		"f50f1ff8 f50314aa f50741f8 c0035fd6"}, // str x21, [sp, #-16]!; mov x21, x20; ldr x21, [sp], #16; ret
}

var cpythonMachines = map[string]*arch.Machine{
	"amd64": arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	"arm64": arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
}

func decode(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encode writes the .eh_frame of the function at code.address.
func (c code) encode(t testing.TB, p *cfi.Program) *cfi.Section {
	t.Helper()
	m := p.CIE.Section.Machine
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x2000}
	if err := e.Program(p, c.address, uint64(len(c.bytes))); err != nil {
		t.Fatal(err)
	}
	return &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
}

// The table of CPython's shim from its bytes has the frame that CPython gives gdb, and agrees with
// the code.
func TestCPythonShim(t *testing.T) {
	for name, shim := range cpythonShim {
		m := cpythonMachines[name]
		code := code{0x1000, decode(t, shim.code)}
		made, err := check.Synthesize(code.bytes, m)
		if err != nil || made.Undecided > 0 {
			t.Fatal(name, made, err)
		}
		section := code.encode(t, made.Unwind)
		r, err := check.Section(section, check.Code{Memory: code}, check.Options{})
		if err != nil || len(r.Findings) > 0 || r.Undecided > 0 || r.Agree < 20 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		frame, err := preset.CPythonShim(m)
		if err != nil {
			t.Fatal(err)
		}
		var x cfi.Interpreter
		rows := 0
		for fde := range section.FDEs() {
			for row := range x.Rows(fde) {
				if row.Start != 0x1000+shim.body {
					continue
				}
				rows++
				for _, s := range frame.Saved {
					if got := row.Register(s.Register); got != (cfi.Rule{Kind: cfi.Offset, Offset: s.Slot}) {
						t.Errorf("%s: column %d: %v, CPython's table says CFA%+d", name, s.Register, got, s.Slot)
					}
				}
				// On arm64 the row has sp+160, which is the same address as x29+96.
				if want := (cfi.Rule{Kind: cfi.Register, Register: uint32(frame.CFARegister), Offset: frame.CFAOffset}); row.CFA != want && name == "amd64" {
					t.Errorf("%s: CFA %v, CPython's table says %v", name, row.CFA, want)
				}
			}
		}
		if rows != 1 {
			t.Errorf("%s: %d rows start at +%#x", name, rows, shim.body)
		}
	}
}

// The tables that reviewers of CPython's pull request 146071 found by eye are wrong by analysis: the
// rows of the trampoline for perf, used for other code, and a frame record of arm64 that is not
// at the end of the frame.
func TestCPythonTables(t *testing.T) {
	for name, test := range map[string]struct {
		table           func(b *cfi.Builder)
		at              uint64
		expected, found string
	}{
		"amd64": {nil, 8, "CFA = rsp+32", "CFA = rsp+8"},
		"arm64": {func(b *cfi.Builder) {
			b.At(4).DefCFAOffset(160)
			b.At(0x28).Offset(29, -96).Offset(30, -88)
			b.At(0x2c).DefCFA(29, 16).Offset(29, -16).Offset(30, -8)
		}, 0x2c, "CFA = x29+96", "CFA = x29+16"},
	} {
		m := cpythonMachines[name]
		code := code{0x1000, decode(t, cpythonShim[name].code)}
		table, err := preset.CPythonPerf(m, false)
		if test.table != nil {
			b := cfi.NewBuilder(cfi.EntryCIE(m))
			test.table(b)
			table, err = b.Program()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Section(code.encode(t, table), check.Code{Memory: code}, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Kind == check.WrongCFA })
		if i < 0 || r.Findings[i].Address != 0x1000+test.at || r.Findings[i].Expected != test.expected || r.Findings[i].Found != test.found {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// Run finds that CPython's table for gdb unites the frames of the executor and of the shim: an
// executor's caller is then the shim's, and lacks the registers that the shim has saved. The tables
// from the code are right.
func TestCPythonGDB(t *testing.T) {
	require(t)
	shim := cpythonShim[runtime.GOARCH]
	size := len(decode(t, shim.code))
	batch := load(t, decode(t, shim.code+shim.executor), nil)
	batch.Functions = []jit.Function{
		{Name: "shim", Size: uint64(size)},
		{Name: "executor", Offset: uint64(size), Size: uint64(len(batch.Text) - size)},
	}
	if _, err := check.Complete(batch); err != nil {
		t.Fatal(err)
	}
	right := check.Run(t, batch, 1, 2, 3)
	if right.Instructions < 20 || right.Agree != right.Instructions {
		t.Errorf("%+v", right)
	}
	frame, err := preset.CPythonShim(jit.Host())
	if err != nil {
		t.Fatal(err)
	}
	if batch.Functions[1].Unwind, err = preset.CPythonGDB(jit.Host(), frame); err != nil {
		t.Fatal(err)
	}
	var r recorder
	result := check.Run(&r, batch, 1, 2, 3)
	wrong := map[string]bool{}
	for _, m := range result.Mismatches {
		if m.PC < batch.Address+uint64(size) {
			t.Errorf("in the shim: %v", &m)
		}
		wrong[m.Register] = true
	}
	callee := map[string]string{"amd64": "r13", "arm64": "x21"}[runtime.GOARCH]
	const executor = 4 // instructions
	if len(r.errors) == 0 || !wrong["CFA"] || !wrong["return address"] || result.Disagree != executor {
		t.Errorf("%+v", result)
	}
	if !strings.Contains(strings.Join(r.errors, "\n"), "executor+0x0") || !wrong[callee] {
		t.Errorf("%q", r.errors)
	}
}
