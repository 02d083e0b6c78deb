// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/stack/generated"
)

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// jitdump returns a jitdump of two functions, push %rax; nop; pop %rax; ret. The table of the
// second one lacks the push.
func jitdump(t testing.TB) []byte {
	t.Helper()
	program := func(right bool) *cfi.Program {
		b := cfi.NewBuilder(cfi.EntryCIE(amd64))
		if right {
			b.At(1).DefCFAOffset(16).At(3).DefCFAOffset(8)
		}
		p, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	text := []byte("\x50\x90\x58\xc3\xcc\xcc\xcc\xcc\x50\x90\x58\xc3")
	text = append(text, make([]byte, 4096)...) // for the pages that perf maps
	d, err := perf.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = d.Publish(&jit.Code{Machine: amd64, Address: 0x7000, Text: text, Functions: []jit.Function{
		{Name: "right", Offset: 0, Size: 4, Unwind: program(true)},
		{Name: "wrong", Offset: 8, Size: 4, Unwind: program(false), Lines: []jit.Line{{Offset: 0, File: "w.js", Line: 3}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func checked(t testing.TB, name string, data []byte) *Result {
	t.Helper()
	source, err := generated.Read(name, data)
	if err != nil {
		return nil
	}
	for r := range new(Survey).Check([]*Part{Source(source, nil)}) {
		return r
	}
	return nil
}

func TestJitdump(t *testing.T) {
	r := checked(t, "dir/jit-1.dump", jitdump(t))
	if r.Err != nil || r.Key != "jit-1.dump" || r.Functions != 2 || r.Agree != 6 || len(r.Findings) != 1 || r.Defective != 1 {
		t.Fatalf("%+v, %v", r.Report, r.Err)
	}
	f := &r.Findings[0]
	if f.Name != "wrong" || f.Kind != check.WrongCFA || f.Address != f.Function+1 || f.Fix != ".cfi_def_cfa_offset 16" || len(f.Around) != 4 {
		t.Errorf("%+v", f)
	}
	if at, _ := r.Code.Locate(f.Address); len(at) != 1 || at[0].Line != 3 {
		t.Errorf("source: %+v", at)
	}
	var b [4]byte
	if r.Code.ReadMemory(b[:], f.Function) != nil || string(b[:]) != "\x50\x90\x58\xc3" || r.Code.ReadMemory(b[:], f.Address) == nil {
		t.Errorf("code: % x", b)
	}
}

// Each number of a jitdump lies. Nothing panics, and the work is bounded.
func TestHostileJitdump(t *testing.T) {
	data := jitdump(t)
	for at := 0; at+4 <= len(data) && at < 2048; at += 4 {
		for _, v := range []uint32{0, 1, 0x7fffffff, 0xffffffff} {
			changed := append([]byte(nil), data...)
			binary.LittleEndian.PutUint32(changed[at:], v)
			if r := checked(t, "x", changed); r != nil && len(r.Findings) > 8 {
				t.Errorf("%#x at %#x: %d findings", v, at, len(r.Findings))
			}
		}
	}
}

func FuzzJitdump(f *testing.F) {
	f.Add(jitdump(f))
	f.Fuzz(func(t *testing.T, data []byte) { checked(t, "x", data) })
}

// A register that most functions change belongs to the runtime.
func TestOwnRegisters(t *testing.T) {
	lost := func(register string, functions ...uint64) (list []check.Finding) {
		for _, start := range functions {
			list = append(list, check.Finding{Kind: check.WrongRegister, Register: register, Function: start, Fix: ".cfi_undefined " + register})
		}
		return list
	}
	for _, test := range []struct {
		functions int
		findings  []check.Finding
		want      string
	}{
		{1, lost("rbx", 1), ""},       // can be a defect
		{2, lost("rbx", 1, 1, 1), ""}, // of one function
		{4, lost("rbx", 1, 2), "rbx"}, // half of them
		{5, lost("rbx", 1, 2), ""},    // fewer
		{2, append(lost("rbx", 1, 2), lost("r12", 1, 2)...), "r12 rbx"},
		{2, []check.Finding{{Kind: check.WrongRegister, Register: "rbx", Function: 1, Fix: ".cfi_offset rbx, -16"}, {Kind: check.WrongRegister, Register: "rbx", Function: 2, Fix: ".cfi_offset rbx, -16"}}, ""},
	} {
		r := &check.Report{Findings: test.findings}
		r.Functions = test.functions
		if got := strings.Join(ownRegisters(r), " "); got != test.want {
			t.Errorf("%d functions: %q, want %q", test.functions, got, test.want)
		}
	}
}

// Tables that describe the same code again and again end the check.
func TestRepeatedCode(t *testing.T) {
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: amd64, Address: 0x1000}
	p, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).Program()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Program(p, 0x100000, 16<<20); err != nil {
		t.Fatal(err)
	}
	section := &cfi.Section{Kind: e.Kind, Data: e.Data, Address: e.Address, Machine: amd64}
	source, err := generated.Read("x", jitdump(t))
	if err != nil {
		t.Fatal(err)
	}
	g := &generatedCode{source: source}
	var report check.Report
	if err := g.checkFunction(&g.list()[0], slices.Repeat([]*cfi.Section{section}, 17), check.Options{}, &report); err == nil || !strings.Contains(err.Error(), "the rest is not checked") {
		t.Error(err, fmt.Sprint(report.Counters))
	}
}
