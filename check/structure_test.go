// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"bytes"
	"encoding/binary"
	"os"
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
	if list := structure(f, section, Options{}); len(list) > 0 {
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
	for _, test := range []struct {
		kind   Kind
		change func(b []byte)
	}{
		{Overlap, func(b []byte) { put(b, first.Offset+size, uint32(first.End-first.Start)+0x100) }},
		{OutsideCode, func(b []byte) { put(b, first.Offset+size, 0x700000) }},
		{OutsideFile, func(b []byte) { put(b, first.Offset+augmentation+1, 0x7000000) }},
		{PastEnd, func(b []byte) { put(b, first.Offset+size, 1) }},
		{WrongHeader, func(b []byte) { put(b, first.Offset+start, uint32(first.Start-section.Address-first.Offset-start)+1) }},
		{Malformed, func(b []byte) { b[base+first.InstructionsOffset] = 0x3f }},
		{EarlyEnd, func(b []byte) { put(b, first.Offset, 0) }},
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
	for _, test := range []struct {
		caller  string
		finding bool
	}{{"push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\ncall local\npop %rbx\n.cfi_def_cfa_offset 8\nret", false},
		{"call local\nret", true}, {"ret", true}} {
		f := assemble(t, "amd64", ".globl outer\nouter:\n.cfi_startproc\n"+test.caller+"\n.cfi_endproc\nlocal:\n.cfi_startproc\nxor %ebx,%ebx\nret\n.cfi_endproc\n")
		r, err := File(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(r.Findings) > 0) != test.finding {
			t.Errorf("%s: %v", test.caller, describe(r.Findings))
		}
	}
}
