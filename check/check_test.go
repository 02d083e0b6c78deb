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

// The prologue and the epilogue of gcc's functions that align their stack, and the rule of the CFA between
// them.
const (
	realigned = "lea 8(%rsp),%r10\n.cfi_def_cfa %r10, 0\nand $-32,%rsp\npush -8(%r10)\npush %rbp\nmov %rsp,%rbp\n" +
		".cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00\npush %r10\n" + savedCFA
	savedCFA    = ".cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n"
	unrealigned = "mov -8(%rbp),%r10\n.cfi_def_cfa %r10, 0\nleave\n.cfi_restore %rbp\nlea -8(%r10),%rsp\n.cfi_def_cfa %rsp, 8\nret"
)

// A function f of assembly language; "here:" marks the instruction with the finding.
var functionTests = []struct {
	machine      string // "" for amd64
	name, source string
	want         string // the finding, without its address; "" for none
	fix          string
}{
	{"", "rows at the right places", "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\nxor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"", "a late rule of a register that is unchanged", "push %rbx\n.cfi_def_cfa_offset 16\nnop\n.cfi_offset %rbx, -16\nxor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"", "a late rule of the CFA", "push %rbx\nhere: nop\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\npop %rbx\n.cfi_def_cfa_offset 8\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	// clang, llvm-project issue 220720: the stack is released before a branch to a tail call.
	{"", "a branch after the stack is released", "push %rax\n.cfi_def_cfa_offset 16\ntest %edi,%edi\nlea 8(%rsp),%rsp\nhere: je 1f\nret\n1: jmp f",
		"wrong CFA: CFA = rsp+8, but the table says CFA = rsp+16", ".cfi_def_cfa_offset 8"},
	{"", "a second epilogue without its rows", "push %rax\n.cfi_def_cfa_offset 16\ntest %edi,%edi\nje 1f\npop %rax\n.cfi_def_cfa_offset 8\nret\n1: here: pop %rax\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	{"", "a register that is lost", "xor %r12d,%r12d\nhere: ret", "wrong register: r12 lost, but the table says r12 unchanged", ".cfi_undefined r12"},
	{"", "a register that the row gives up", ".cfi_undefined %r12\nxor %r12d,%r12d\nret", "", ""},
	{"", "a register in another one", "mov %rbx,%rdx\nxor %ebx,%ebx\nhere: mov %rdx,%rbx\nret", "wrong register: rbx in rdx, but the table says rbx unchanged", ".cfi_register rbx, rdx"},
	{"", "a wrong slot", "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -24\nhere: xor %ebx,%ebx\npop %rbx\n.cfi_def_cfa_offset 8\n.cfi_restore %rbx\nret",
		"wrong register: rbx at CFA-16, but the table says rbx at CFA-24", ".cfi_offset rbx, -16"},
	{"", "a frame pointer", "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp,%rbp\n.cfi_def_cfa_register %rbp\nsub %rdi,%rsp\nleave\n.cfi_def_cfa %rsp, 8\nret", "", ""},
	{"", "a frame pointer that is popped too early", "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp,%rbp\n.cfi_def_cfa_register %rbp\npop %rbp\nhere: nop\n.cfi_def_cfa %rsp, 8\nret",
		"wrong CFA: CFA = rsp+8, but the table says CFA = rbp+16", ".cfi_def_cfa rsp, 8"},
	{"", "a row that is early after a call that returns", "push %rax\n.cfi_def_cfa_offset 16\ncall g\n.cfi_def_cfa_offset 8\nhere: pop %rax\nret",
		"wrong CFA: CFA = rsp+16, but the table says CFA = rsp+8", ".cfi_def_cfa_offset 16"},
	{"", "a call that does not return", "test %edi,%edi\nje 1f\npush %rax\n.cfi_def_cfa_offset 16\ncall g\n.cfi_def_cfa_offset 8\n1: ret", "", ""},
	// Another path leads to the code after the padding: a jump table without a known length.
	{"", "padding after a call that does not return", "push %rax\n.cfi_def_cfa_offset 16\ncall g\nnopl (%rax)\n.cfi_def_cfa_offset 8\nmov $1,%eax\nret", "", ""},
	{"", "a call of the next instruction", "call 1f\n1: .cfi_def_cfa_offset 16\npop %rax\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"", "a loop that probes the stack", "lea -0x4000(%rsp),%r11\n.cfi_def_cfa %r11, 0x4008\n1: sub $0x1000,%rsp\norq $0,(%rsp)\ncmp %r11,%rsp\njne 1b\n.cfi_def_cfa_register %rsp\nadd $0x4000,%rsp\n.cfi_def_cfa_offset 8\nret", "", ""},
	{"", "a return address that is overwritten", "mov %rax,(%rsp)\nhere: ret", "wrong return address: return address lost, but the table says return address at CFA-8", ".cfi_undefined 16"},
	{"", "BMI writes its first operand", "blsr %rax,%rbx\nhere: ret", "wrong register: rbx lost, but the table says rbx unchanged", ".cfi_undefined rbx"},
	{"", "vectors do not", "vzeroupper\nvpaddd %ymm1,%ymm2,%ymm3\n{evex} vmovdqu32 %zmm3,64(%rsp)\nret", "", ""},
	{"", "a register that is saved in a realigned frame", realigned + "push %rbx\nxor %ebx,%ebx\nhere: mov -16(%rbp),%rbx\n" + unrealigned,
		"wrong register: rbx at rbp-16, but the table says rbx unchanged", ".cfi_escape 0x10, 0x03, 0x02, 0x76, 0x70"},
	{"", "a CFA that is saved in a realigned frame", strings.Replace(realigned, savedCFA, "", 1) + "xor %r10d,%r10d\nhere: nop\n" + unrealigned,
		"wrong CFA: CFA = *(rbp-8), but the table says CFA = r10+0", ".cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06"},
	{"", "a CFA in another register", "lea 8(%rsp),%r10\n.cfi_def_cfa %r10, 0\nand $-32,%rsp\n.cfi_def_cfa %rbp, 16\nhere: lea -8(%r10),%rsp\n.cfi_def_cfa %rsp, 8\nret",
		"wrong CFA: CFA = r10+0, but the table says CFA = rbp+16", ".cfi_def_cfa r10, 0"},
	{"", "outermost", ".cfi_undefined %rip\nxor %ebp,%ebp\nret", "", ""},
	{"arm64", "a frame record", "stp x29, x30, [sp, #-32]!\n.cfi_def_cfa_offset 32\n.cfi_offset 29, -32\n.cfi_offset 30, -24\nmov x29, sp\nstr x19, [sp, #16]\n.cfi_offset 19, -16\nmov x19, x0\nbl g\nldr x19, [sp, #16]\nldp x29, x30, [sp], #32\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n.cfi_restore 19\nret", "", ""},
	{"arm64", "an allocation that is counted twice", "sub sp, sp, #16\n.cfi_def_cfa_offset 32\nhere: nop\nadd sp, sp, #16\n.cfi_def_cfa_offset 0\nret",
		"wrong CFA: CFA = sp+16, but the table says CFA = sp+32", ".cfi_def_cfa_offset 16"},
	{"arm64", "a shifted allocation", "sub sp, sp, #1, lsl #12\n.cfi_def_cfa_offset 4096\nnop\nadd sp, sp, #1, lsl #12\nhere: ret",
		"wrong CFA: CFA = sp+0, but the table says CFA = sp+4096", ".cfi_def_cfa_offset 0"},
	{"arm64", "an allocation by a register", "mov x16, #0x2340\nmovk x16, #1, lsl #16\nsub sp, sp, x16\n.cfi_def_cfa_offset 0x12340\nnop\nadd sp, sp, x16\n.cfi_def_cfa_offset 0\nret", "", ""},
	{"arm64", "a loop that probes the stack", "sub x12, sp, #0x40000\n.cfi_def_cfa x12, 0x40000\n1: sub sp, sp, #0x10000\nstr xzr, [sp, #1024]\ncmp sp, x12\nb.ne 1b\n.cfi_def_cfa_register sp\nadd sp, sp, #0x40000\n.cfi_def_cfa_offset 0\nret", "", ""},
	{"arm64", "a frame pointer and dynamic allocations", "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nmov x29, sp\n.cfi_def_cfa_register 29\nsub sp, sp, x0\nand sp, x1, #-64\nmov x0, sp\nbl g\nmov sp, x29\n.cfi_def_cfa_register sp\nldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\nret", "", ""},
	// gcc for frames of more than 512 bytes with -fno-omit-frame-pointer.
	{"arm64", "a frame pointer that is restored too early", "sub sp, sp, #1024\n.cfi_def_cfa_offset 1024\nstp x29, x30, [sp]\n.cfi_offset 29, -1024\n.cfi_offset 30, -1016\nmov x29, sp\n.cfi_def_cfa_register 29\nbl g\nldp x29, x30, [sp]\nhere: add sp, sp, #1024\n.cfi_restore 30\n.cfi_restore 29\n.cfi_def_cfa 31, 0\nret",
		"wrong CFA: CFA = sp+1024, but the table says CFA = x29+1024", ".cfi_def_cfa sp, 1024"},
	{"arm64", "a second epilogue without its rows", "str x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nbl g\ncbz x0, 1f\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nret\n1: here: ldr x30, [sp], #16\nret",
		"wrong CFA: CFA = sp+16, but the table says CFA = sp+0", ".cfi_def_cfa_offset 16"},
	{"arm64", "a return address that is not saved", "mov x2, x30\nadr x30, 1f\nhere: nop\n1: mov x30, x2\nret", "wrong return address: x30 in x2, but the table says x30 unchanged", ".cfi_register x30, x2"},
	{"arm64", "a register that is lost", "mov x21, #0\nhere: ret", "wrong register: x21 lost, but the table says x21 unchanged", ".cfi_undefined x21"},
	{"arm64", "a vector register that is lost", "fmov d9, #1.0\nhere: ret", "wrong register: d9 lost, but the table says d9 unchanged", ".cfi_undefined d9"},
	{"arm64", "vector registers at a wrong slot", "stp d8, d9, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 72, -16\n.cfi_offset 73, -16\nhere: movi d8, #0\nmovi d9, #0\nldp d8, d9, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 72\n.cfi_restore 73\nret",
		"wrong register: d9 at CFA-8, but the table says d9 at CFA-16", ".cfi_offset d9, -8"},
	{"arm64", "SVE that changes no register of the caller", ".arch armv8.5-a+sve\nstr x19, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 19, -16\nptrue p0.b\nld1b {z0.b}, p0/z, [x1]\ncntb x19\nst1b {z0.b}, p0, [x0]\nldr x19, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 19\nret", "", ""},
	{"arm64", "SVE's part of the frame", ".arch armv8.5-a+sve\nstp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nmov x29, sp\n.cfi_def_cfa_register 29\naddvl sp, sp, #-2\nstr z8, [sp, #1, mul vl]\nstr z9, [sp]\nbl g\nmov sp, x29\n.cfi_def_cfa_register 31\nldp x29, x30, [sp], #16\nhere: ret",
		"wrong CFA: CFA = sp+0, but the table says CFA = sp+16", ".cfi_def_cfa_offset 0"},
	{"arm64", "a signed return address", ".arch armv8.5-a\npaciasp\n.cfi_negate_ra_state\nstp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nbl g\nldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\nautiasp\n.cfi_negate_ra_state\nret", "", ""},
	{"arm64", "a return that authenticates", ".arch armv8.5-a\nbti c\npacia x30, sp\n.cfi_negate_ra_state\nstr x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nbl g\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nretaa", "", ""},
	// LLVM, llvm-project issue 137802.
	{"arm64", "a state of signing before its instruction", ".arch armv8.5-a\n.cfi_negate_ra_state\nhere: paciasp\nstr x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nbl g\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nretaa",
		"wrong return address: return address not signed, but the table says return address signed with key A", ".cfi_negate_ra_state"},
	{"arm64", "a state of signing after the epilogue", ".arch armv8.5-a\npaciasp\n.cfi_negate_ra_state\nstr x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nbl g\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nautiasp\nhere: ret",
		"wrong return address: return address not signed, but the table says return address signed with key A", ".cfi_negate_ra_state"},
	{"arm64", "another key", ".arch armv8.5-a\npacibsp\n.cfi_negate_ra_state\nhere: str x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nbl g\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nretab",
		"wrong return address: return address signed with key B, but the table says return address signed with key A", ""},
	{"arm64", "a call that does not return", "cbz x0, 1f\nmov x19, x19\nbl g\n1: ret", "", ""},
}

func TestFunctions(t *testing.T) {
	for _, test := range functionTests {
		t.Run(test.machine+test.name, func(t *testing.T) {
			f := assemble(t, test.machine, ".globl f,here\nf: .cfi_startproc\n"+test.source+"\n.cfi_endproc\n.size f,.-f\n")
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
			if test.fix != "" {
				// The directive mends the row.
				f := assemble(t, test.machine, ".globl f,here\nf: .cfi_startproc\n"+strings.Replace(test.source, "here:", test.fix+"\nhere:", 1)+"\n.cfi_endproc\n.size f,.-f\n")
				r, err := File(f, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for i := range r.Findings {
					if w := &r.Findings[i]; w.Address <= here.Address && w.Kind == g.Kind && w.Column == g.Column {
						t.Errorf("with %s: %v", test.fix, w)
					}
				}
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
