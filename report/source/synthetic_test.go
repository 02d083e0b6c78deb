// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"bytes"
	"debug/elf"
	"go/format"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/source"
	"github.com/clewdev/clew/report/table"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// section returns a section with one function of 64 bytes at 0x1000.
func section(t testing.TB, b *cfi.Builder) opened {
	t.Helper()
	p, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	m := p.CIE.Section.Machine
	e := cfi.Encoder{Machine: m}
	if err := e.Program(p, 0x1000, 64); err != nil {
		t.Fatal(err)
	}
	return sections(t, &cfi.Section{Name: ".eh_frame", Machine: m, Data: e.Data})
}

func sections(t testing.TB, s ...*cfi.Section) opened {
	t.Helper()
	list, err := table.List(s, nil, table.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return opened{nil, s, list}
}

// assembled prints the functions of a file as directives, assembles them and compares the rows.
func assembled(t *testing.T, f opened, command ...string) (text string) {
	t.Helper()
	testprogram.RequireTool(t, command[0])
	text, functions, faults := write(t, f, source.Asm)
	if faults > 0 {
		t.Fatalf("left out:\n%s", text)
	}
	path := filepath.Join(t.TempDir(), "assembled.o")
	cmd := exec.Command(command[0], append(command[1:], "--fatal-warnings", "-o", path, "-")...)
	cmd.Stdin = strings.NewReader(text)
	run(t, cmd)
	compareAssembled(t, functions, path)
	return text
}

// Every column is printed with a name that gas accepts, or as a number.
func TestGasRegisters(t *testing.T) {
	for _, s := range testprogram.Sources(t, "asm") {
		name := strings.TrimSuffix(filepath.Base(s), ".s")
		if name == "order" || name == "versions" { // several machines' conventions in one file
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := open(t, testprogram.Assemble(t, s)).Machine()
			b := cfi.NewBuilder(cfi.EntryCIE(m)).At(4)
			for c := range uint64(132) {
				b.Undefined(c)
			}
			for c := uint64(256); c < 288; c++ {
				b.Undefined(c)
			}
			if t.Failed() {
				return
			}
			assembled(t, section(t, b), assembler(t, s)...)
		})
	}
}

// gas puts the rules before the first advance into the CIE. That must not change the effect of
// .cfi_restore.
func TestGasRestores(t *testing.T) {
	b := cfi.NewBuilder(cfi.EntryCIE(amd64)).Offset(3, -16).DefCFAOffset(32).At(4).Undefined(3).At(8).Restore(3)
	text := assembled(t, section(t, b), "as", "--64")
	if !strings.Contains(text, "\t.cfi_escape 0x00\t# DW_CFA_nop") {
		t.Errorf("no escape in\n%s", text)
	}
	b = cfi.NewBuilder(cfi.EntryCIE(amd64)).DefCFAOffset(32).At(4).Offset(3, -16)
	if text := assembled(t, section(t, b), "as", "--64"); strings.Contains(text, "escape") {
		t.Errorf("a needless escape in\n%s", text)
	}
}

// Operations without a directive, and states that change no row.
func TestGasEscapes(t *testing.T) {
	plus := []byte{0x23, 0x08} // DW_OP_plus_uconst 8
	b := cfi.NewBuilder(cfi.EntryCIE(amd64)).At(1).
		ValExpression(12, plus).Expression(13, plus).ArgumentsSize(300).At(2).
		DefCFAExpression(append([]byte{0x77, 0x08}, bytes.Repeat([]byte{0x96}, 40)...)). // DW_OP_nop: over several lines
		At(3).DefCFA(6, 16).At(4).RememberState().DefCFA(7, -8).At(5).RestoreState()
	b.Instruction(cfi.Instruction{Op: cfi.CFALLVMDefAspaceCFA, Register: 7, Operand: 8, Register2: 3})
	b.At(6).DefCFAOffset(24).At(7).Instruction(cfi.Instruction{Op: cfi.CFALLVMDefAspaceCFASF, Register: 7, Operand: 2, Register2: 3})
	text := assembled(t, section(t, b), "as", "--64")
	for _, want := range []string{
		"# DW_CFA_GNU_args_size 300\n\t.cfi_escape 0x2e, 0xac, 0x02\n",
		"# DW_CFA_LLVM_def_aspace_cfa rsp, 8, space 3\n\t.cfi_escape 0x30, 0x07, 0x08, 0x03\n",
		"\t.cfi_escape 0x31, 0x07, 0x02, 0x03\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The register and offset that are valid again after an expression are printed completely,
// because the builder and gas do not remember them.
func TestHiddenCFA(t *testing.T) {
	b := cfi.NewBuilder(cfi.EntryCIE(amd64)).At(4).DefCFAExpression([]byte{0x77, 0x08})
	b.At(8).Instruction(cfi.Instruction{Op: cfi.CFADefCFAOffset, Operand: 48})
	b.At(12).Instruction(cfi.Instruction{Op: cfi.CFADefCFARegister, Register: 6})
	f := section(t, b)
	if text := assembled(t, f, "as", "--64"); !strings.Contains(text, "\t.cfi_def_cfa %rbp, 48\n") {
		t.Errorf("got\n%s", text)
	}
	text, functions, _ := write(t, f, source.C)
	compareEncoded(t, functions[0], relocated(t, amd64, arrays(t, text)[0]))
}

// Functions that a form cannot express are left out, with the reason.
func TestLeftOut(t *testing.T) {
	odd := cfi.NewCIE(amd64)
	odd.DataAlign = -1
	cie, err := cfi.NewBuilder(odd).DefCFA(7, 8).Offset(16, -8).CIE()
	if err != nil {
		t.Fatal(err)
	}
	f := section(t, cfi.NewBuilder(cie).At(4).Offset(3, -12))
	text, functions, faults := write(t, f, source.Asm)
	if faults != 1 || len(functions) != 0 || !strings.Contains(text, "# 0x1000 is left out: gas has the factors 1 for code and -8 for data") {
		t.Errorf("%d faults:\n%s", faults, text)
	}
	text, _, faults = write(t, f, source.Go)
	if faults != 0 || !strings.Contains(text, "cie.DataAlign = -1\n") || !strings.Contains(text, "b.At(0x4).Offset(3, -12)") {
		t.Errorf("%d faults:\n%s", faults, text)
	}
	text, functions, _ = write(t, f, source.C)
	compareEncoded(t, functions[0], relocated(t, amd64, arrays(t, text)[0]))

	// A function without code has no table.
	var e cfi.Encoder
	e.Machine = amd64
	if err := e.FDE(&cfi.FDE{CIE: cie, Start: 0x1000, End: 0x1000}); err != nil {
		t.Fatal(err)
	}
	empty := sections(t, &cfi.Section{Name: ".eh_frame", Machine: amd64, Data: e.Data})
	for _, format := range []source.Format{source.Go, source.C, source.Asm} {
		text, functions, faults := write(t, empty, format)
		if faults != 0 || len(functions) != 0 || !strings.Contains(text, "0x1000 covers no code.") {
			t.Errorf("%v: %d faults:\n%s", format, faults, text)
		}
	}
}

// A listing without functions gives a source file without functions.
func TestEmptyListing(t *testing.T) {
	f := sections(t, &cfi.Section{Name: ".eh_frame", Machine: amd64})
	for _, of := range []source.Format{source.Go, source.C, source.Asm} {
		text, functions, faults := write(t, f, of)
		if len(functions)+faults != 0 {
			t.Errorf("%v: %q", of, text)
		}
		if of == source.Go {
			if _, err := format.Source([]byte(text)); err != nil {
				t.Error(err)
			}
		}
	}
}

// A program that is too large to print is left out.
func TestTooLarge(t *testing.T) {
	b := cfi.NewBuilder(cfi.EntryCIE(amd64))
	for range 1 << 15 {
		b.DefCFAOffset(16).DefCFAOffset(24)
	}
	f := section(t, b)
	text, functions, faults := write(t, f, source.C)
	if faults != 1 || len(functions) != 0 || !strings.Contains(text, "bytes of call frame instructions, expected at most 65536") {
		t.Errorf("%d faults:\n%.300s", faults, text)
	}
}
