// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// A function f of assembly language; "here:" marks the instruction with the finding.
var functionTests = []struct {
	name, source string
	want         string // the finding, without its address; "" for none
	fix          string
}{
	{"rows at the right places", "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\nxor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"a late rule of a register that is unchanged", "push %rbx\n.cfi_def_cfa_offset 16\nnop\n.cfi_offset %rbx, -16\nxor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"a late rule of the CFA", "push %rbx\nhere: nop\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\npop %rbx\n.cfi_def_cfa_offset 8\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	// clang, llvm-project issue 220720: the stack is released before a branch to a tail call.
	{"a branch after the stack is released", "push %rax\n.cfi_def_cfa_offset 16\ntest %edi,%edi\nlea 8(%rsp),%rsp\nhere: je 1f\nret\n1: jmp f",
		"wrong CFA: CFA = rsp+8, but the table says CFA = rsp+16", ".cfi_def_cfa_offset 8"},
	{"a second epilogue without its rows", "push %rax\n.cfi_def_cfa_offset 16\ntest %edi,%edi\nje 1f\npop %rax\n.cfi_def_cfa_offset 8\nret\n1: here: pop %rax\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	{"a register that is lost", "xor %r12d,%r12d\nhere: ret", "wrong register: r12 lost, but the table says r12 unchanged", ".cfi_undefined r12"},
	{"a register that the row gives up", ".cfi_undefined %r12\nxor %r12d,%r12d\nret", "", ""},
	{"a register in another one", "mov %rbx,%rdx\nxor %ebx,%ebx\nhere: mov %rdx,%rbx\nret", "wrong register: rbx in rdx, but the table says rbx unchanged", ".cfi_register rbx, rdx"},
	{"a wrong slot", "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -24\nhere: xor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\n.cfi_restore %rbx\nret",
		"wrong register: rbx at CFA-16, but the table says rbx at CFA-24", ".cfi_offset rbx, -16"},
	{"a frame pointer", "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp,%rbp\n.cfi_def_cfa_register %rbp\nsub %rdi,%rsp\nleave\n.cfi_def_cfa %rsp, 8\nret", "", ""},
	{"a frame pointer that is popped too early", "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp,%rbp\n.cfi_def_cfa_register %rbp\npop %rbp\nhere: nop\n.cfi_def_cfa %rsp, 8\nret",
		"wrong CFA: CFA = rsp+8, but the table says CFA = rbp+16", ".cfi_def_cfa rsp, 8"},
	{"a row that is early after a call that returns", "push %rax\n.cfi_def_cfa_offset 16\ncall g\n.cfi_def_cfa_offset 8\nhere: pop %rax\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	{"a call that does not return", "test %edi,%edi\nje 1f\npush %rax\n.cfi_def_cfa_offset 16\ncall g\n.cfi_def_cfa_offset 8\n1: ret", "", ""},
	{"a call of the next instruction", "call 1f\n1: .cfi_def_cfa_offset 16\npop %rax\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"a loop that probes the stack", "lea -0x4000(%rsp),%r11\n.cfi_def_cfa %r11, 0x4008\n1: sub $0x1000,%rsp\norq $0,(%rsp)\ncmp %r11,%rsp\njne 1b\n.cfi_def_cfa_register %rsp\nadd $0x4000,%rsp\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"a return address that is overwritten", "mov %rax,(%rsp)\nhere: ret", "wrong return address: return address lost, but the table says return address at CFA-8", ".cfi_undefined 16"},
	{"BMI writes its first operand", "blsr %rax,%rbx\nhere: ret", "wrong register: rbx lost, but the table says rbx unchanged", ".cfi_undefined rbx"},
	{"vectors do not", "vzeroupper\nvpaddd %ymm1,%ymm2,%ymm3\n{evex} vmovdqu32 %zmm3,64(%rsp)\nret", "", ""},
	{"outermost", ".cfi_undefined %rip\nxor %ebp,%ebp\nret", "", ""},
}

func TestFunctions(t *testing.T) {
	for _, test := range functionTests {
		t.Run(test.name, func(t *testing.T) {
			f := assemble(t, ".globl f,here\nf: .cfi_startproc\n"+test.source+"\n.cfi_endproc\n.size f,.-f\n")
			r, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if len(r.Findings) > 0 {
					t.Errorf("%v", describe(r.Findings))
				}
				return
			}
			here, _ := f.Symbol("here")
			if len(r.Findings) == 0 {
				t.Fatalf("no finding: %+v", r.Counters)
			}
			g := &r.Findings[0]
			if g.Address != here.Address || !strings.HasSuffix(g.String(), test.want) || g.Fix != test.fix || g.Name != "f" {
				t.Errorf("%v (%s), want %s at %#x (%s)", g, g.Fix, test.want, here.Address, test.fix)
			}
			if n := len(g.Path); n == 0 || g.Path[n-1].Address != g.Address || g.Path[0].Address != g.Function {
				t.Errorf("path %v", g.Path)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	m := arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)
	if _, err := Section(&cfi.Section{Machine: m}, Code{}, Options{}); !errors.Is(err, ErrMachine) {
		t.Error(err)
	}
}
