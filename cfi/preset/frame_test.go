// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// presets are frames, and functions with the same frame and the directives of a compiler. Labels mark
// the end of the prologue (P) and the starts and ends of epilogues (S1, E1, ...).
var presets = []struct {
	name    string
	machine *arch.Machine
	make    func(*arch.Machine, preset.Frame) (*cfi.Program, error)
	frame   preset.Frame
	code    string
}{
	{"frame pointer", amd64, preset.FramePointer, preset.Frame{}, `
		push %rbp; .cfi_def_cfa_offset 16; .cfi_offset 6, -16
		mov %rsp, %rbp; .cfi_def_cfa_register 6
		call *%rax
	S1:	pop %rbp; .cfi_restore 6; .cfi_def_cfa 7, 8
		ret`},
	{"frame pointer, CET, pushes, slots, two epilogues", amd64, preset.FramePointer,
		preset.Frame{Landing: true, Pushed: []uint64{12, 3}, Saved: []preset.Saved{{13, -48}, {14, -56}}}, `
		endbr64
		push %rbp; .cfi_def_cfa_offset 16; .cfi_offset 6, -16
		mov %rsp, %rbp; .cfi_def_cfa_register 6
		push %r12; .cfi_offset 12, -24
		push %rbx; .cfi_offset 3, -32
		sub $32, %rsp
		mov %r13, 16(%rsp)
		mov %r14, 8(%rsp)
	P:	.cfi_offset 13, -48; .cfi_offset 14, -56
		mov $1, %r14
		mov 16(%rsp), %r13
		mov 8(%rsp), %r14
		add $32, %rsp
	S1:	.cfi_remember_state
		pop %rbx; .cfi_restore 3
		pop %r12; .cfi_restore 12
		leave; .cfi_restore 6; .cfi_def_cfa 7, 8; .cfi_restore 13; .cfi_restore 14
		ret
	E1:	.cfi_restore_state
		mov 16(%rsp), %r13
		mov 8(%rsp), %r14
		lea -16(%rbp), %rsp
	S2:	pop %rbx; .cfi_restore 3
		pop %r12; .cfi_restore 12
		pop %rbp; .cfi_restore 6; .cfi_def_cfa 7, 8; .cfi_restore 13; .cfi_restore 14
		ret`},
	{"frame pointer", arm64, preset.FramePointer, preset.Frame{}, `
		stp x29, x30, [sp, -16]!; .cfi_def_cfa_offset 16; .cfi_offset 29, -16; .cfi_offset 30, -8
		mov x29, sp; .cfi_def_cfa_register 29
		blr x0
	S1:	ldp x29, x30, [sp], 16; .cfi_restore 29; .cfi_restore 30; .cfi_def_cfa 31, 0
		ret`},
	{"frame pointer, BTI, a slot", arm64, preset.FramePointer,
		preset.Frame{Landing: true, Size: 48, Saved: []preset.Saved{{19, -32}}}, `
		hint 34
		stp x29, x30, [sp, -48]!; .cfi_def_cfa_offset 48; .cfi_offset 29, -48; .cfi_offset 30, -40
		mov x29, sp; .cfi_def_cfa_register 29
		str x19, [sp, 16]
	P:	.cfi_offset 19, -32
		blr x0
		ldr x19, [sp, 16]
	S1:	ldp x29, x30, [sp], 48; .cfi_restore 29; .cfi_restore 30; .cfi_restore 19; .cfi_def_cfa 31, 0
		ret`},
	{"frame pointer, PAC, two epilogues", arm64, preset.FramePointer, preset.Frame{Signed: true, Size: 496}, `
		hint 25; .cfi_negate_ra_state
		stp x29, x30, [sp, -496]!; .cfi_def_cfa_offset 496; .cfi_offset 29, -496; .cfi_offset 30, -488
		mov x29, sp; .cfi_def_cfa_register 29
		cbz x0, S2
	S1:	.cfi_remember_state
		ldp x29, x30, [sp], 496; .cfi_restore 29; .cfi_restore 30; .cfi_def_cfa 31, 0
		hint 29; .cfi_negate_ra_state
		ret
	E1:	.cfi_restore_state
		blr x0
	S2:	ldp x29, x30, [sp], 496; .cfi_restore 29; .cfi_restore 30; .cfi_def_cfa 31, 0
		hint 29; .cfi_negate_ra_state
		ret`},
	{"fixed, small", amd64, preset.Fixed, preset.Frame{Size: 120}, `
		sub $120, %rsp; .cfi_def_cfa_offset 128
		call *%rax
	S1:	add $120, %rsp; .cfi_def_cfa_offset 8
		ret`},
	{"fixed, pushes alone", amd64, preset.Fixed, preset.Frame{Pushed: []uint64{6, 15}}, `
		push %rbp; .cfi_def_cfa_offset 16; .cfi_offset 6, -16
		push %r15; .cfi_def_cfa_offset 24; .cfi_offset 15, -24
		call *%rax
	S1:	pop %r15; .cfi_def_cfa_offset 16; .cfi_restore 15
		pop %rbp; .cfi_def_cfa_offset 8; .cfi_restore 6
		ret`},
	{"fixed, large, CET, pushes, slots, two epilogues", amd64, preset.Fixed,
		preset.Frame{Landing: true, Size: 4096, Pushed: []uint64{3}, Saved: []preset.Saved{{12, -24}, {6, -32}}}, `
		endbr64
		push %rbx; .cfi_def_cfa_offset 16; .cfi_offset 3, -16
		sub $4096, %rsp; .cfi_def_cfa_offset 4112
		mov %r12, 4088(%rsp)
		mov %rbp, 4080(%rsp)
	P:	.cfi_offset 12, -24; .cfi_offset 6, -32
		call *%rax
	S1:	.cfi_remember_state
		add $4096, %rsp; .cfi_def_cfa_offset 16; .cfi_restore 12; .cfi_restore 6
		pop %rbx; .cfi_def_cfa_offset 8; .cfi_restore 3
		ret
	E1:	.cfi_restore_state
		nop
	S2:	.cfi_remember_state
		add $4096, %rsp; .cfi_def_cfa_offset 16; .cfi_restore 12; .cfi_restore 6
		pop %rbx; .cfi_def_cfa_offset 8; .cfi_restore 3
		jmp *%rax
	E2:	.cfi_restore_state
		call *%rax`},
	{"fixed", arm64, preset.Fixed, preset.Frame{Size: 32, Saved: []preset.Saved{{30, -16}, {19, -8}}}, `
		sub sp, sp, 32; .cfi_def_cfa_offset 32
		stp x30, x19, [sp, 16]
	P:	.cfi_offset 30, -16; .cfi_offset 19, -8
		blr x0
		ldp x30, x19, [sp, 16]
	S1:	add sp, sp, 32; .cfi_def_cfa_offset 0; .cfi_restore 30; .cfi_restore 19
		ret`},
	{"fixed, BTI and PAC, large", arm64, preset.Fixed,
		preset.Frame{Landing: true, Signed: true, Size: 0x3000, Saved: []preset.Saved{{30, -16}}}, `
		hint 34
		hint 25; .cfi_negate_ra_state
		sub sp, sp, 0x3000; .cfi_def_cfa_offset 0x3000
		str x30, [sp, 0x2ff0]
	P:	.cfi_offset 30, -16
		ldr x30, [sp, 0x2ff0]
	S1:	.cfi_remember_state
		add sp, sp, 0x3000; .cfi_def_cfa_offset 0; .cfi_restore 30
		hint 29; .cfi_negate_ra_state
		ret
	E1:	.cfi_restore_state
		brk 0`},
	{"leaf", amd64, preset.Leaf, preset.Frame{}, `
		lea (%rdi,%rsi), %rax
		ret`},
	{"leaf, CET", amd64, preset.Leaf, preset.Frame{Landing: true}, `
		endbr64
	S1:	ret
	E1:	nop`},
	{"leaf", arm64, preset.Leaf, preset.Frame{}, `
		add x0, x0, x1
		ret`},
	{"leaf, PAC", arm64, preset.Leaf, preset.Frame{Signed: true}, `
		hint 25; .cfi_negate_ra_state
		cbz x0, S2
	S1:	.cfi_remember_state
		hint 29; .cfi_negate_ra_state
		ret
	E1:	.cfi_restore_state
		add x0, x0, x1
	S2:	hint 29; .cfi_negate_ra_state
		ret`},
}

// TestPresets compares each preset with the table that gas makes of the same
// instructions with a compiler's directives.
func TestPresets(t *testing.T) {
	for _, test := range presets {
		t.Run(test.machine.Name+"/"+test.name, func(t *testing.T) {
			want, size, label := assemble(t, test.machine, test.code)
			f := test.frame
			f.Prologue = label["P"]
			for n := 1; ; n++ {
				start, ok := label[fmt.Sprint("S", n)]
				if !ok {
					break
				}
				f.Epilogues = append(f.Epilogues, preset.Epilogue{Start: start, End: label[fmt.Sprint("E", n)]})
			}
			p, err := test.make(test.machine, f)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(t, written(t, p, size)); !slices.Equal(got, want) {
				t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// assemble returns the rows of gas for a function, the function's size, and the offsets
// of its labels.
func assemble(t *testing.T, m *arch.Machine, code string) (rowsOf []string, size uint64, labels map[string]uint64) {
	t.Helper()
	tool := map[*arch.Machine]string{amd64: "x86_64-linux-gnu-as", arm64: "aarch64-linux-gnu-as"}[m]
	testprogram.RequireTool(t, tool)
	path := filepath.Join(t.TempDir(), "f.o")
	cmd := exec.Command(tool, "-o", path)
	cmd.Stdin = strings.NewReader(".text\n.type f, %function\nf: .cfi_startproc\n" + code + "\n.cfi_endproc\n.size f, .-f\n")
	if m == amd64 {
		cmd.Stdin = strings.NewReader(".text\n.type f, @function\nf: .cfi_startproc\n" + code + "\n.cfi_endproc\n.size f, .-f\n")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, out)
	}
	return decoded(t, path, "f")
}

// decoded returns the rows of a function in an object file, its size, and the offsets of
// all symbols from its start.
func decoded(t *testing.T, path, name string) (rowsOf []string, size uint64, labels map[string]uint64) {
	t.Helper()
	raw, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	symbols, err := raw.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	labels = make(map[string]uint64)
	var start uint64
	for _, s := range symbols {
		if labels[s.Name] = s.Value; s.Name == name {
			start, size = s.Value, s.Size
		}
	}
	for label := range labels {
		labels[label] -= start
	}
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sections, err := f.CFISections()
	if err != nil || len(sections) != 1 {
		t.Fatalf("%d sections, %v", len(sections), err)
	}
	for fde := range sections[0].FDEs() {
		if fde.End-fde.Start == size {
			return rows(t, fde), size, labels
		}
	}
	t.Fatalf("no FDE of %d bytes", size)
	return nil, 0, nil
}

// written returns the FDE of a program for a function of the given size.
func written(t *testing.T, p *cfi.Program, size uint64) *cfi.FDE {
	t.Helper()
	const start = 0x1000
	buffer := make([]byte, 512)
	n, err := preset.EHFrame(buffer, p, start, size, 0x400000)
	if err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Name: "written", Data: buffer[:n], Address: 0x400000, Machine: p.CIE.Section.Machine}
	for f := range s.FDEs() {
		g := *f
		return &g
	}
	t.Fatal("no FDE")
	return nil
}

// rows returns the rows of an FDE, from the function's start on.
func rows(t *testing.T, f *cfi.FDE) []string {
	t.Helper()
	var x cfi.Interpreter
	var out []string
	m := f.CIE.Section.Machine
	for row := range x.Rows(f) {
		line := fmt.Sprintf("%#x-%#x CFA=%s%+d", row.Start-f.Start, row.End-f.Start, m.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
		for _, r := range row.Registers {
			line += fmt.Sprintf(" %s=%v%+d", m.RegisterName(uint64(r.Column)), r.Kind, r.Offset)
		}
		if row.Signed {
			line += " signed"
		}
		// gas and compilers advance even if nothing changes.
		if n := len(out); n > 0 {
			_, before, _ := strings.Cut(out[n-1], " ")
			if _, now, _ := strings.Cut(line, " "); now == before {
				out[n-1] = fmt.Sprintf("%s-%#x %s", out[n-1][:strings.Index(out[n-1], "-")], row.End-f.Start, now)
				continue
			}
		}
		out = append(out, line)
	}
	if x.Err() != nil {
		t.Fatal(x.Err())
	}
	return out
}

func TestSteady(t *testing.T) {
	p, err := preset.Steady(cfi.NewCIE(arm64), 29, 16, preset.Saved{Register: 29, Slot: -16}, preset.Saved{Register: 30, Slot: -8})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, written(t, p, 64)); !slices.Equal(got, []string{"0x0-0x40 CFA=x29+16 x29=offset-16 x30=offset-8"}) || len(p.Instructions) > 0 {
		t.Errorf("%q, %x", got, p.Instructions)
	}
}

func TestPresetsShareACIE(t *testing.T) {
	a, _ := preset.Leaf(amd64, preset.Frame{})
	b, _ := preset.FramePointer(amd64, preset.Frame{})
	if a.CIE != b.CIE {
		t.Error("two CIEs")
	}
	cie := cfi.EntryCIE(arm64)
	cie.BKey = true
	if c, err := preset.Leaf(arm64, preset.Frame{CIE: cie, Signed: true}); err != nil || c.CIE != cie {
		t.Error(err)
	}
}

func TestPresetsRefuse(t *testing.T) {
	// These errors are not about a value.
	misuses := map[string]bool{"amd64 and arm64": true, "another machine": true, "cannot be signed": true, "no push instructions": true,
		"a leaf": true, "Frame.Saved is set, but Frame.Prologue is 0": true, "needs an End": true}
	riscv := arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)
	x32 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS32, elf.ELFDATA2LSB)
	for _, test := range []struct {
		name    string
		make    func(*arch.Machine, preset.Frame) (*cfi.Program, error)
		machine *arch.Machine
		frame   preset.Frame
		says    string
	}{
		{"no machine", preset.Leaf, nil, preset.Frame{}, "amd64 and arm64"},
		{"another machine", preset.FramePointer, riscv, preset.Frame{}, "amd64 and arm64"},
		{"x32", preset.Fixed, x32, preset.Frame{}, "amd64 and arm64"},
		{"a CIE of another machine", preset.Leaf, amd64, preset.Frame{CIE: cfi.EntryCIE(arm64)}, "another machine"},
		{"signed", preset.Leaf, amd64, preset.Frame{Signed: true}, "cannot be signed"},
		{"pushes", preset.Fixed, arm64, preset.Frame{Size: 16, Pushed: []uint64{19}}, "no push instructions"},
		{"the stack pointer is pushed", preset.Fixed, amd64, preset.Frame{Pushed: []uint64{7}}, "column 7"},
		{"a vector register is pushed", preset.Fixed, amd64, preset.Frame{Pushed: []uint64{17}}, "column 17"},
		{"a frame that is not a multiple", preset.Fixed, amd64, preset.Frame{Size: 12}, "a frame of 12 bytes, which sub rsp, 12 cannot encode"},
		{"a frame too large", preset.Fixed, amd64, preset.Frame{Size: 1 << 31}, "cannot encode"},
		{"a frame of no size", preset.Fixed, arm64, preset.Frame{}, "cannot encode"},
		{"a frame of two instructions", preset.Fixed, arm64, preset.Frame{Size: 0x1010}, "a frame of 4112 bytes, which sub sp, sp, #4112 cannot encode"},
		{"a frame beyond stp", preset.FramePointer, arm64, preset.Frame{Size: 512}, "a frame of 512 bytes, which stp x29, x30, [sp, #-512]! cannot encode"},
		{"a leaf with a frame", preset.Leaf, arm64, preset.Frame{Size: 16}, "a leaf"},
		{"slots before the prologue's end", preset.Fixed, amd64, preset.Frame{Size: 16, Saved: []preset.Saved{{3, -16}}}, "Frame.Saved is set, but Frame.Prologue is 0"},
		{"a prologue that ends too early", preset.Fixed, amd64, preset.Frame{Size: 16, Prologue: 2, Saved: []preset.Saved{{3, -16}}}, "Frame.Prologue is 0x2, before the end of the frame's instructions at +0x4"},
		{"the frame pointer is pushed again", preset.FramePointer, amd64, preset.Frame{Pushed: []uint64{6}}, "column 6 is saved at CFA-24, but the CFA is based on it"},
		{"the frame pointer has a slot", preset.FramePointer, arm64, preset.Frame{Size: 32, Prologue: 12, Saved: []preset.Saved{{29, -8}}}, "column 29 is saved"},
		{"the stack pointer has a slot", preset.Fixed, amd64, preset.Frame{Size: 16, Prologue: 8, Saved: []preset.Saved{{7, -16}}}, "column 7 is saved"},
		{"the return address's slot", preset.Fixed, amd64, preset.Frame{Size: 16, Prologue: 8, Saved: []preset.Saved{{3, -8}}}, "overlaps column 16 at"},
		{"a slot of what was pushed", preset.Fixed, amd64, preset.Frame{Pushed: []uint64{3}, Prologue: 8, Saved: []preset.Saved{{12, -16}}}, "overlaps column 3 at"},
		{"one slot twice", preset.Fixed, arm64, preset.Frame{Size: 32, Prologue: 8, Saved: []preset.Saved{{19, -32}, {20, -32}}}, "overlaps column 19 at"},
		{"a slot of the caller", preset.Fixed, arm64, preset.Frame{Size: 32, Prologue: 8, Saved: []preset.Saved{{19, 0}}}, "outside of the frame"},
		{"a column that does not exist", preset.Fixed, amd64, preset.Frame{Size: 16, Prologue: 8, Saved: []preset.Saved{{99, -16}}}, "not a column of x86-64"},
		{"a slot that is not a multiple", preset.Fixed, amd64, preset.Frame{Size: 16, Prologue: 8, Saved: []preset.Saved{{3, -20}}}, "multiple"},
		{"an epilogue in the prologue", preset.FramePointer, amd64, preset.Frame{Epilogues: []preset.Epilogue{{Start: 3}}}, "an epilogue at +0x3"},
		{"epilogues out of order", preset.FramePointer, amd64, preset.Frame{Epilogues: []preset.Epilogue{{Start: 20, End: 22}, {Start: 10, End: 12}}}, "an epilogue at +0xa"},
		{"an epilogue without an end", preset.FramePointer, amd64, preset.Frame{Epilogues: []preset.Epilogue{{Start: 20}, {Start: 30}}}, "needs an End"},
		{"an epilogue without a ret", preset.FramePointer, amd64, preset.Frame{Epilogues: []preset.Epilogue{{Start: 20, End: 21}}}, "its ret"},
		{"an instruction that is none of arm64's", preset.FramePointer, arm64, preset.Frame{Epilogues: []preset.Epilogue{{Start: 21}}}, "code alignment"},
	} {
		p, err := test.make(test.machine, test.frame)
		value := errors.Is(err, cfi.ErrRange)
		if value == errors.Is(err, cfi.ErrUse) || value != !misuses[test.says] || !strings.Contains(err.Error(), test.says) || p != nil {
			t.Errorf("%s: %v, want one that says %q", test.name, err, test.says)
		}
	}
}
