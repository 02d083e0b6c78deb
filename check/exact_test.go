// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// A row that agrees only by a guess is undecided. The verdict is that of the instruction at the
// label here.
func TestGuesses(t *testing.T) {
	const frame = "f:\n.cfi_startproc\npush %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\n"
	const leave = "pop %rbx\n.cfi_remember_state\n.cfi_def_cfa_offset 8\n.cfi_restore %rbx\nret\n.cfi_restore_state\n"
	const jump = "lea table(%rip), %rcx\nmovslq (%rcx,%rax,4), %rax\nadd %rcx, %rax\njmp *%rax\n"
	const cases = "one: " + leave + "here: nop\n" + leave + ".cfi_endproc\n"
	const table = ".section .rodata\n.balign 4\ntable: .long one-table, here-table\n"
	const external = ".text\ng:\n.cfi_startproc\ntest %edi, %edi\nje 1f\nret\n1: hlt\n.cfi_endproc\n"
	for _, test := range []struct {
		name, code string
		verdict    Verdict
		reason     Reason
	}{
		{"fence", frame + "lock addl $0, (%rsp)\nhere: nop\n" + leave + ".cfi_endproc\n", Agree, NoReason},
		{"written slot", frame + "lock addq $1, (%rsp)\nhere: nop\n" + leave + ".cfi_endproc\n", Disagree, NoReason},
		{"carry into a slot", frame + "adcq $0, (%rsp)\nhere: nop\n" + leave + ".cfi_endproc\n", Disagree, NoReason},
		{"written part of a slot", frame + "movl $6, (%rsp)\nhere: nop\n" + leave + ".cfi_endproc\n", Undecided, UnknownValue},
		{"no bound", frame + jump + cases + table, Undecided, Guessed},
		{"compared", frame + "cmp $1, %rax\nja one\n" + jump + cases + table, Agree, NoReason},
		{"copied", frame + "mov %esi, %eax\ncmp $1, %esi\nja one\nxor %edx, %edx\n" + jump + cases + table, Agree, NoReason},
		{"other register", frame + "mov %esi, %eax\nadd %eax, %esi\ncmp $1, %esi\nja one\n" + jump + cases + table, Undecided, Guessed},
		{"memory", frame + "cmpl $1, 8(%rdi)\nja one\nmov 8(%rdi), %eax\n" + jump + cases + table, Agree, NoReason},
		{"other memory", frame + "cmpl $1, 8(%rdi)\nja one\nmov 12(%rdi), %eax\n" + jump + cases + table, Undecided, Guessed},
		{"written memory", frame + "cmpl $1, 8(%rdi)\nja one\nmovl %edx, (%rsi)\nmov 8(%rdi), %eax\n" + jump + cases + table, Undecided, Guessed},
		{"masked", frame + "and $1, %eax\n" + jump + cases + table, Agree, NoReason},
		{"masked, with too few entries", frame + "and $7, %eax\n" + jump + cases + table + ".long 0x7000000\n", Undecided, Guessed},
		{"next table", frame + "cmp $9, %edi\nje two\n" + jump + "two: mov %esi, %eax\ncmp $1, %esi\nja one\nlea next(%rip), %rcx\nmovslq (%rcx,%rax,4), %rax\nadd %rcx, %rax\njmp *%rax\n" +
			cases + table + "next: .long one-next, one-next\n", Agree, NoReason},
		{"excluded entry", frame + "cmp $2, %rax\nja one\n" + jump + cases + "end:\n" + ".section .rodata\n.balign 4\ntable: .long one-table, end-table, here-table\n", Agree, NoReason},
		{"unknown target", frame + "test %edi, %edi\nje here\njmp *%rax\n" + cases, Undecided, OpenJump},
		{"tail call", "f:\n.cfi_startproc\ntest %edi, %edi\nje here\njmp *%rax\nhere: ret\n.cfi_endproc\n", Agree, NoReason},
		{"call that may return", frame + "test %edi, %edi\nje here\nsub $16, %rsp\n.cfi_def_cfa_offset 32\ncall g\n.cfi_def_cfa_offset 16\nhere: " + leave + ".cfi_endproc\n" + external, Undecided, MayNotReturn},
		{"call that does not return", frame + "test %edi, %edi\nje here\nsub $16, %rsp\n.cfi_def_cfa_offset 32\ncall g\n.cfi_def_cfa_offset 16\nhere: " + leave + ".cfi_endproc\ng:\n.cfi_startproc\nhlt\n.cfi_endproc\n", Agree, NoReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdict, reason := verdictHere(t, "amd64", test.code)
			if verdict != test.verdict || reason != test.reason {
				t.Errorf("%v (%v), want %v (%v)", verdict, reason, test.verdict, test.reason)
			}
		})
	}
}

// A register that the code saves outside of its frame has the caller's value again after a load from
// there, as far as the analysis knows. A row that says so is not wrong.
func TestSavedOutside(t *testing.T) {
	const start = "f:\n.cfi_startproc\n"
	const end = "\nret\n.cfi_endproc\n.bss\nplace: .quad 0, 0\n"
	const lost = "\n.cfi_undefined %rbx\nxor %ebx, %ebx\n"
	const framed = "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
	for _, test := range []struct {
		name, machine, code string
		verdict             Verdict
		reason              Reason
	}{
		{"global variable", "amd64", "mov %rbx, place(%rip)" + lost + "mov place(%rip), %rbx\n.cfi_same_value %rbx\nhere:", Undecided, UnknownValue},
		{"thread-local variable", "amd64", "mov %rbx, %fs:0x100" + lost + "mov %fs:0x100, %rbx\n.cfi_same_value %rbx\nhere:", Undecided, UnknownValue},
		{"argument", "amd64", "mov %rbx, 8(%rdi)" + lost + "mov 8(%rdi), %rbx\n.cfi_same_value %rbx\nhere:", Undecided, UnknownValue},
		{"vector register", "amd64", "movq %rbx, %xmm3" + lost + "movq %xmm3, %rbx\n.cfi_same_value %rbx\nhere:", Undecided, UnknownValue},
		{"vector register by VEX", "amd64", "vmovq %rbx, %xmm3" + lost + "vmovq %xmm3, %rbx\n.cfi_same_value %rbx\nhere:", Undecided, UnknownValue},
		{"frame pointer", "amd64", framed + "mov %rdi, %rsp\ncall *%rsi\nmov %rbp, place(%rip)\nmov place(%rip), %rbp\nhere: mov %rbp, %rsp\npop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp", Undecided, UnknownStack},
		{"popped frame pointer", "amd64", framed + "mov %rbp, place(%rip)\nmov place(%rip), %rbp\nmov %rbp, %rsp\npop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nhere:", Undecided, UnknownStack},
		{"one path", "amd64", "test %edi, %edi\nje 1f\nmov %rbx, place(%rip)\n1: mov place(%rip), %rbx\nhere:", Undecided, UnknownValue},
		{"arm64", "arm64", "str x19, [x0]\n.cfi_undefined 19\nmov x19, #0\nldr x19, [x0]\n.cfi_same_value 19\nhere:", Undecided, UnknownValue},
		{"nothing saved", "amd64", "mov place(%rip), %rbx\nhere:", Disagree, NoReason},
		{"other value", "amd64", "mov %rbx, place(%rip)\nmov %rsi, %rbx\nhere:", Disagree, NoReason},
		{"half", "amd64", "movd %ebx, %xmm3\nmovd %xmm3, %ebx\nhere:", Disagree, NoReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdict, reason := verdictHere(t, test.machine, start+test.code+end)
			if verdict != test.verdict || reason != test.reason {
				t.Errorf("%v (%v), want %v (%v)", verdict, reason, test.verdict, test.reason)
			}
		})
	}
}

// verdictHere returns the verdict of the instruction at the label here.
func verdictHere(t *testing.T, machine, code string) (verdict Verdict, reason Reason) {
	t.Helper()
	f := assemble(t, machine, ".text\n"+code)
	here, _ := f.Symbol("here")
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker(section, Code{Memory: f})
	reason = Unreached
	c.observe = func(i *instruction) {
		if i.pc == here.Address {
			verdict, reason = i.verdict, i.reason
		}
	}
	if _, err := c.run(Options{}); err != nil {
		t.Fatal(err)
	}
	return verdict, reason
}

// Functions that are not entered or left as the psABI says are undecided, and give no finding.
func TestForeignFrames(t *testing.T) {
	const start, end = "f:\n.cfi_startproc\n", "\n.cfi_endproc\n"
	// libffi's ffi_call_unix64 moves its frame record to memory of its caller.
	const copied = "mov (%rsp), %r10\nlea (%rdi,%rsi), %rax\nmov %rbp, 16(%rax)\nmov %r10, 24(%rax)\nmov %rax, %rbp\n.cfi_def_cfa %rbp, 32\n.cfi_offset %rbp, -16\n"
	const uncopied = "lea (%rdi,%rsi), %rbp\n.cfi_def_cfa %rbp, 32\n.cfi_offset %rbp, -16\n"
	// libhwasan's __hwasan_tag_mismatch is entered with 256 bytes on the stack, and saves registers there.
	const above = "add x29, sp, #232\n.cfi_def_cfa 29, 24\n.cfi_offset 29, -24\nhere: str x28, [sp, #224]\nstr x29, [sp, #232]\nbrk #0\n"
	const below = "sub sp, sp, #256\nhere: str x28, [sp, #224]\nstr x29, [sp, #232]\nbrk #0\n"
	// gccgo's functions call libgcc's __morestack, which calls the code after the ret.
	const morestack = "cmp %fs:0x70, %rsp\njae body\nxor %r10d, %r10d\ncall more\nret\nhere: jmp body\nbody: push %rax\n.cfi_def_cfa_offset 16\npop %rax\n.cfi_def_cfa_offset 8\nret"
	const more = "more:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\nmov 8(%rbp), %r10\ninc %r10\ncall *%r10\npop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n"
	const other = "more:\n.cfi_startproc\nret\n.cfi_endproc\n"
	for _, test := range []struct {
		name, machine, code string
		verdict             Verdict
		reason              Reason
	}{
		{"padding before an entry with a word on the stack", "amd64", "ret\n.cfi_startproc\n.balign 16\n.cfi_adjust_cfa_offset 8\nhere: sub $16, %rsp\n.cfi_adjust_cfa_offset 16\nadd $24, %rsp\n.cfi_adjust_cfa_offset -24\nret" + end, Undecided, Unreached},
		{"nop without an alignment", "amd64", "ret\n.cfi_startproc\nnop\n.cfi_adjust_cfa_offset 8\nhere: sub $16, %rsp\nhlt" + end, Disagree, NoReason},
		// gcc lets a case that is never taken end at an empty cold part.
		{"cold part of another function", "amd64", start + "push %rax\n.cfi_adjust_cfa_offset 8\ncmp $3, %edi\nja here\npop %rax\n.cfi_adjust_cfa_offset -8\nret" + end +
			"g:\n.cfi_startproc\nret" + end + ".cfi_startproc\n.cfi_def_cfa_offset 64\nhere: ud2" + end, Undecided, Guessed},
		{"own cold part", "amd64", start + "push %rax\n.cfi_adjust_cfa_offset 8\ncmp $3, %edi\nja here\npop %rax\n.cfi_adjust_cfa_offset -8\nret" + end +
			".cfi_startproc\n.cfi_def_cfa_offset 64\nhere: ud2" + end, Disagree, NoReason},
		{"copy of the frame", "amd64", start + copied + "here: nop\nhlt" + end, Undecided, UnknownStack},
		{"another stack with the copy", "amd64", start + copied + "lea 184(%rdi), %rsp\nhere: call *%r8\nhlt" + end, Undecided, UnknownStack},
		{"no copy", "amd64", start + uncopied + "here: nop\nhlt" + end, Disagree, NoReason},
		{"frame of the caller", "arm64", start + above + end, Undecided, UnknownEntry},
		{"own frame", "arm64", start + below + end, Disagree, NoReason},
		{"__morestack", "amd64", start + morestack + end + more, Agree, NoReason},
		{"not __morestack", "amd64", start + morestack + end + other, Undecided, Unreached},
	} {
		verdict, reason := verdictHere(t, test.machine, test.code)
		if verdict != test.verdict || reason != test.reason {
			t.Errorf("%s: %v (%v), want %v (%v)", test.name, verdict, reason, test.verdict, test.reason)
		}
	}
}

// DW_AT_noreturn in the declaration of an external function decides the code after a call.
func TestNoReturnAttribute(t *testing.T) {
	const source = `
__attribute__((noreturn)) void die(long, long, long, long, long, long, long, long);
long g(long);
long f(long x)
{
	long y = g(x);
	if (y > 3)
		die(1, 2, 3, 4, 5, 6, y, 8);
	return g(y) + y;
}
`
	for _, compiler := range []string{"gcc", "aarch64-linux-gnu-gcc"} {
		testprogram.RequireTool(t, compiler)
		for _, test := range []struct {
			name, flag string
			decided    bool
		}{
			{"without", "-g0", compiler != "gcc"}, // no arguments are pushed on arm64
			{"declaration", "-g", true},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "f.c")
			if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			library := filepath.Join(dir, "f.so")
			if out, err := exec.Command(compiler, "-Os", test.flag, "-shared", "-fPIC", "-o", library, path).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			r, err := File(open(t, library), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Reasons[MayNotReturn] == 0 != test.decided || len(r.Findings) > 0 {
				t.Errorf("%s: %s: %d instructions are undecided because of a call, findings %v", compiler, test.name, r.Reasons[MayNotReturn], r.Findings)
			}
		}
	}
}
