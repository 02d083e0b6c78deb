// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch/disasm"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/examples/forth"
)

// The functions of Options.Entry save the registers that C code needs, and their unwind tables
// describe where.
func TestEntry(t *testing.T) {
	for name, want := range map[string]string{
		"amd64": `
forth_enter
 push %rbx | 8
 push %rbp | 16 3:-16
 push %r12 | 24 3:-16 6:-24
 push %r13 | 32 3:-16 6:-24 12:-32
 mov %rdi,%r12 | 40 3:-16 6:-24 12:-32 13:-40
 lea -0x3f000(%rsp),%rdx
 mov %rdx,0x10(%r12)
 lea -0x8(%rsp),%rdx
 mov %rdx,(%r12)
 mov 0x20(%r12),%rbx
 mov 0x28(%r12),%rax
 mov 0x40(%r12),%r13
 call *%rsi
 mov %rbx,0x20(%r12)
 mov %rax,0x28(%r12)
 pop %r13
 pop %r12 | 32 3:-16 6:-24 12:-32
 pop %rbp | 24 3:-16 6:-24
 pop %rbx | 16 3:-16
 ret | 8
forth_pause
 ret | 8
`,
		"arm64": `
forth_enter
 stp x29, x30, [sp,#-64]! | 0
 stp x19, x20, [sp,#16] | 64 29:-64 30:-56
 str x21, [sp,#32] | 64 19:-48 20:-40 29:-64 30:-56
 mov x20, x0 | 64 19:-48 20:-40 21:-32 29:-64 30:-56
 sub x9, sp, #0x3f, lsl #12
 str x9, [x20,#16]
 mov x10, sp
 str x10, [x20]
 adr x11, 0x38
 str x11, [x20,#8]
 ldr x19, [x20,#32]
 ldr x0, [x20,#40]
 ldr x21, [x20,#64]
 blr x1
 str x19, [x20,#32]
 str x0, [x20,#40]
 ldr x21, [sp,#32]
 ldp x19, x20, [sp,#16] | 64 19:-48 20:-40 29:-64 30:-56
 ldp x29, x30, [sp],#64 | 64 29:-64 30:-56
 ret | 0
forth_pause
 ret | 0
`,
	} {
		p, err := forth.Compile("entry.fth", []byte(": f 1 + ;"), &forth.Options{Machine: machines[name], Entry: true})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		got.WriteString("\n")
		for _, f := range p.Functions[:2] {
			got.WriteString(f.Name + "\n")
			e := cfi.Encoder{Kind: cfi.EHFrame, Machine: p.Machine}
			if err := e.Program(f.Unwind, 0, f.Size); err != nil {
				t.Fatal(err)
			}
			s := &cfi.Section{Name: ".eh_frame", Kind: cfi.EHFrame, Machine: p.Machine, Data: e.Data}
			before := ""
			code := p.Text[f.Offset:][:f.Size]
			for pc := 0; pc < len(code); {
				text, size := disasm.Decode(p.Machine, code[pc:], uint64(pc), nil)
				fmt.Fprintf(&got, " %s", strings.Join(strings.Fields(text), " "))
				if row := rowAt(t, s, uint64(pc)); row != before {
					got.WriteString(" | " + row)
					before = row
				}
				got.WriteString("\n")
				pc += size
			}
		}
		if got.String() != want {
			t.Errorf("%s: got%s", name, got.String())
		}
	}
}

// rowAt returns the offset of the CFA from the stack pointer, and the offsets of the
// callee-saved registers from the CFA.
func rowAt(t *testing.T, s *cfi.Section, pc uint64) string {
	t.Helper()
	for fde := range s.FDEs() {
		row, err := new(cfi.Interpreter).RowAt(fde, pc)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(row.CFA.Offset)
		for _, r := range row.Registers {
			if uint64(r.Column) != fde.CIE.ReturnAddress || s.Machine != machines["amd64"] {
				text += fmt.Sprintf(" %d:%d", r.Column, r.Offset)
			}
		}
		return text
	}
	return ""
}
