// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// Each defect of the structure that is written into a library is found, and nothing in the
// library as it was.
func TestStructure(t *testing.T) {
	f := build{"g++", "-O2 -fno-omit-frame-pointer"}.compile(t)
	whole, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := structure(f, section, Options{}); len(list) > 0 {
		t.Errorf("%v", list)
	}
	base := uint64(0)
	for _, s := range f.Sections() {
		if s.Name == ".eh_frame" {
			base = s.Offset
		}
	}
	var fdes []cfi.FDE
	for fde := range section.FDEs() {
		fdes = append(fdes, *fde)
	}
	at := slices.IndexFunc(fdes, func(f cfi.FDE) bool { return f.LSDA.Address != 0 })
	first := fdes[at]
	put := func(b []byte, offset uint64, v uint32) { binary.LittleEndian.PutUint32(b[base+offset:], v) }
	const start, size, augmentation = 8, 12, 16 // offsets in an FDE of this form
	factors := base + first.CIE.Offset + 8 + 1 + uint64(len(first.CIE.Augmentation)) + 1
	for _, test := range []struct {
		kind   Kind
		change func(b []byte)
	}{
		{Overlap, func(b []byte) { put(b, first.Offset+size, uint32(first.End-first.Start)+0x100) }},
		{OutsideCode, func(b []byte) { put(b, first.Offset+size, 0x700000) }},
		{OutsideFile, func(b []byte) { put(b, first.Offset+augmentation+1, 0x7000000) }},
		{OutsideFile, func(b []byte) { put(b, first.CIE.InstructionsOffset-6, 0x7000000) }}, // the personality routine, before two encodings
		{PastEnd, func(b []byte) { put(b, first.Offset+size, 1) }},
		{WrongHeader, func(b []byte) { put(b, first.Offset+start, uint32(first.Start-section.Address-first.Offset-start)+1) }},
		{Malformed, func(b []byte) { b[base+first.InstructionsOffset] = 0x3f }},
		{EarlyEnd, func(b []byte) { put(b, first.Offset, 0) }},
		{WrongEncoding, func(b []byte) { b[base+first.CIE.InstructionsOffset-1] = byte(cfi.EncUdata4) }},
		{Impossible, func(b []byte) { b[factors] = 0 }},
		{Impossible, func(b []byte) { b[factors+1] = 0 }},
		{Impossible, func(b []byte) { b[factors+2] = 99 }},
	} {
		b := bytes.Clone(whole)
		test.change(b)
		g, err := object.NewFile(b, "changed")
		if err != nil {
			t.Fatal(err)
		}
		r, err := File(g, Options{})
		if err != nil {
			t.Errorf("%v: %v", test.kind, err)
			continue
		}
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == test.kind }) {
			t.Errorf("no %v in %v", test.kind, describe(r.Findings))
		}
	}
}

// A function whose caller has saved the register that it changes has a convention of its own;
// one that others call has not.
func TestPrivateConvention(t *testing.T) {
	const saves = "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\ncall local\npop %rbx\n.cfi_def_cfa_offset 8\nret"
	for _, test := range []struct {
		caller, end string
		finding     bool
	}{{saves, "ret", false}, {"call local\nret", "ret", true}, {"ret", "ret", true},
		// libitm's GTM_longjmp has no convention with its callers, to which it does not return.
		{saves, "mov 8(%rdi), %rsp\njmp *(%rdi)", true}} {
		f := assemble(t, "amd64", ".globl outer\nouter:\n.cfi_startproc\n"+test.caller+"\n.cfi_endproc\nlocal:\n.cfi_startproc\nxor %ebx,%ebx\n"+test.end+"\n.cfi_endproc\n")
		r, err := File(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(r.Findings) > 0) != test.finding {
			t.Errorf("%s: %v", test.caller, describe(r.Findings))
		}
	}
}

// Files in assembly language have the kinds of findings and notes that their code says.
func TestStructureOfAssembly(t *testing.T) {
	const function = "f:\n.cfi_startproc\nret\n.cfi_endproc\n"
	for _, test := range []struct {
		name, machine, code string
		kinds               []Kind
		notes               []NoteKind
	}{
		{"right", "amd64", function, nil, nil},
		{"function without an entry", "amd64", function + ".balign 16\n.globl g\n.type g, @function\ng: ret\n.size g, .-g\n", nil, []NoteKind{NoEntry}},
		{"function without an entry", "arm64", function + ".balign 16\n.globl g\n.type g, @function\ng: ret\n.size g, .-g\n", nil, []NoteKind{NoEntry}},
		{"padding", "amd64", function + ".balign 64\ng:\n.cfi_startproc\nret\n.cfi_endproc\n.fill 3\n.fill 5, 1, 0xcc\n", nil, nil},
		{"startup code", "amd64", function + ".balign 16\ng: ret\n.section .init_array, \"aw\"\n.quad g\n", nil, nil},
		{"trampoline", "amd64", "f:\n.cfi_startproc\n.cfi_signal_frame\n.cfi_def_cfa rsp, 0\nnop\nmov $15, %rax\nsyscall\n.cfi_endproc\n", nil, nil},
		{"trampoline without S", "amd64", "f:\n.cfi_startproc\n.cfi_def_cfa rsp, 0\n.cfi_undefined rip\nnop\nmov $15, %rax\nsyscall\n.cfi_endproc\n", []Kind{WrongSignal}, nil},
		{"trampoline without S", "arm64", "f:\n.cfi_startproc\n.cfi_undefined x30\nmov x8, #139\nsvc #0\n.cfi_endproc\n", []Kind{WrongSignal}, nil},
		{"function with S", "amd64", "f:\n.cfi_startproc\n.cfi_signal_frame\npush %rax\n.cfi_def_cfa_offset 16\npop %rax\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n", []Kind{WrongSignal}, nil},
		{"other key", "arm64", "f:\n.cfi_startproc\npaciasp\n.cfi_b_key_frame\n.cfi_negate_ra_state\nnop\nautiasp\n.cfi_negate_ra_state\nret\n.cfi_endproc\n", []Kind{WrongReturnAddress}, nil},
		{"same key", "arm64", "f:\n.cfi_startproc\npacibsp\n.cfi_b_key_frame\n.cfi_negate_ra_state\nnop\nautibsp\n.cfi_negate_ra_state\nret\n.cfi_endproc\n", nil, nil},
		{"function that .init calls", "arm64", "f:\n.cfi_startproc\nret\n.cfi_endproc\ng: ret\n.section .init, \"ax\"\nbl g\n", nil, nil},
		{"register that does not exist", "amd64", "f:\n.cfi_startproc\n.cfi_offset 200, -16\nret\n.cfi_endproc\n", []Kind{Impossible}, nil},
		{"value in a register that does not exist", "amd64", "f:\n.cfi_startproc\n.cfi_register rcx, 200\nret\n.cfi_endproc\n", []Kind{Impossible}, nil},
		{"CFA by a vector register", "amd64", "f:\n.cfi_startproc\nnop\n.cfi_def_cfa 20, 8\nret\n.cfi_endproc\n", []Kind{Impossible}, nil},
		{"CFA below the stack pointer", "amd64", "f:\n.cfi_startproc\nnop\n.cfi_def_cfa_offset -8\nret\n.cfi_endproc\n", []Kind{Impossible, WrongCFA}, nil},
		{"vector register", "amd64", "f:\n.cfi_startproc\nmovaps %xmm6, -40(%rsp)\n.cfi_offset xmm6, -48\nret\n.cfi_endproc\n", nil, nil},
		{"odd address", "arm64", ".byte 0\nf:\n.cfi_startproc\n.long 2\n.cfi_offset x19, -16\n.long 2\n.cfi_endproc\n", []Kind{Impossible}, nil},
		{"state not restored", "amd64", "f:\n.cfi_startproc\nnop\n.cfi_remember_state\nret\n.cfi_endproc\n", nil, []NoteKind{NotRestoredState}},
		{"state not remembered", "amd64", "f:\n.cfi_startproc\nnop\n.cfi_escape 0x0b\nret\n.cfi_endproc\n", []Kind{Malformed}, nil},
	} {
		t.Run(test.name+" "+test.machine, func(t *testing.T) {
			r, err := File(assemble(t, test.machine, ".text\n"+test.code), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []Kind
			for i := range r.Findings {
				if k := r.Findings[i].Kind; !slices.Contains(kinds, k) {
					kinds = append(kinds, k)
				}
			}
			var notes []NoteKind
			for _, n := range r.Notes {
				if n.Kind != NoTerminator { // crtend.o has it
					notes = append(notes, n.Kind)
				}
				if n.Kind == NoEntry && (n.Count != 1 || n.Places[0].Name != "g") {
					t.Errorf("%+v, want g", n)
				}
			}
			if !slices.Equal(kinds, test.kinds) || !slices.Equal(notes, test.notes) {
				t.Errorf("%v and %v, want %v and %v\n%v", kinds, notes, test.kinds, test.notes, describe(r.Findings))
			}
		})
	}
}

// A CIE without an FDE is noted: the linker removes them, so the change of a type makes one.
func TestUnusedCIE(t *testing.T) {
	f := assemble(t, "amd64", ".text\nf:\n.cfi_startproc\nret\n.cfi_endproc\ng:\n.cfi_startproc\n.cfi_signal_frame\nret\n.cfi_endproc\n")
	whole, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	var cies []uint64
	var last uint64 // FDE
	for e := range section.Entries() {
		switch {
		case e.CIE != nil:
			cies = append(cies, e.Offset)
		case e.FDE != nil:
			last = e.Offset
		}
	}
	for _, s := range f.Sections() {
		if s.Name == ".eh_frame" {
			binary.LittleEndian.PutUint32(whole[s.Offset+last+4:], uint32(last+4-cies[0]))
		}
	}
	g, err := object.NewFile(whole, "changed")
	if err != nil {
		t.Fatal(err)
	}
	r, err := File(g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) == 0 || r.Notes[0].Kind != UnusedCIE || r.Notes[0].Count != 1 || r.Notes[0].Places[0].Address != section.Address+cies[1] {
		t.Errorf("%+v, want the CIE at %#x", r.Notes, section.Address+cies[1])
	}
}

// A section without a terminator is a defect only if nothing lists its entries.
func TestTerminator(t *testing.T) {
	const function = ".text\nf:\n.cfi_startproc\nret\n.cfi_endproc\n"
	last := filepath.Join(t.TempDir(), "last.s")
	if err := os.WriteFile(last, []byte(".section .eh_frame, \"a\", @unwind\n.long 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags []string
		kinds []Kind
		notes []NoteKind
	}{
		{[]string{last}, nil, nil},
		{nil, nil, []NoteKind{NoTerminator}},
		{[]string{"-Wl,--no-eh-frame-hdr"}, []Kind{NoEnd}, nil},
		{[]string{"-Wl,--no-eh-frame-hdr", last}, nil, nil},
	} {
		r, err := File(assemble(t, "amd64", function, test.flags...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []Kind
		for i := range r.Findings {
			kinds = append(kinds, r.Findings[i].Kind)
		}
		var notes []NoteKind
		for _, n := range r.Notes {
			notes = append(notes, n.Kind)
		}
		if !slices.Equal(kinds, test.kinds) || !slices.Equal(notes, test.notes) {
			t.Errorf("%q: %v and %v, want %v and %v", test.flags, kinds, notes, test.kinds, test.notes)
		}
	}
}

// Tables whose rows are right at calls only get a note. The same defect in most functions of a
// file is a finding if a compiler does not mean it: of one row, or at calls.
func TestCallsOnly(t *testing.T) {
	const start, end = ".text\n.rept 10\n.balign 16\n.cfi_startproc\n", ".cfi_endproc\n.endr\n"
	const save, load = "stp x29, x30, [sp, #-32]!\n", "ldp x29, x30, [sp], #32\n"
	const rows = ".cfi_def_cfa_offset 32\n.cfi_offset x29, -32\n.cfi_offset x30, -24\n"
	const restored = ".cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n"
	for _, test := range []struct {
		name, code string
		note       bool
		findings   bool
	}{
		{"right", start + save + rows + "bl g\n" + load + restored + "ret\n" + end, false, false},
		{"calls only", start + save + "nop\n" + rows + "bl g\n" + load + "ret\n" + end, true, false},
		{"epilogue only", start + save + rows + "bl g\n" + load + "ret\n" + end, false, true},
		{"prologue only", start + save + "nop\n" + rows + "bl g\n" + load + restored + "ret\n" + end, false, true},
		{"wrong at a call", start + save + "bl g\n" + rows + load + "ret\n" + end, false, true},
		{"signed too early", start + ".cfi_negate_ra_state\npaciasp\n" + save + rows + "bl g\n" + load + restored + "autiasp\n.cfi_negate_ra_state\nret\n" + end, false, true},
		{"few functions", ".text\n.rept 3\n.balign 16\n.cfi_startproc\n" + save + "nop\n" + rows + "bl g\n" + load + "ret\n" + end, false, true},
		{"one function has steps", ".text\n" + start + save + "nop\n" + rows + "bl g\n" + load + "ret\n" + end +
			".balign 16\n.cfi_startproc\n" + save + rows + "bl g\n" + load + restored + "ret\n.cfi_endproc\n", false, true},
		{"most are right", ".text\n.rept 9\n.balign 16\n.cfi_startproc\n" + save + "nop\n" + rows + "bl g\n" + load + "ret\n" + end +
			start + save + rows + "bl g\n" + load + restored + "ret\n" + end, false, true},
	} {
		r, err := File(assemble(t, "arm64", test.code), Options{})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, n := range r.Notes {
			if n.Kind == CallsOnly {
				count = n.Count
			}
		}
		if count != 0 != test.note || test.note && (count != 10 || r.Defective != 0) || len(r.Findings) > 0 != test.findings {
			t.Errorf("%s: %+v, %v", test.name, r.Notes, describe(r.Findings))
		}
	}
	// LLVM 14 describes one step in each function; gcc's startup code in the same file has more.
	r, err := File(build{arm64Clang, "-O2"}.compile(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) > 0 || !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Kind == CallsOnly && n.Count > 10 }) {
		t.Errorf("%+v, %v", r.Notes, describe(r.Findings))
	}
}
