// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"os"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/process"
)

// The tables of this process's vDSO agree with its code, and so do those that are made from it.
func TestVDSO(t *testing.T) {
	mappings, err := process.Mappings(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	memory, err := process.OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for i := range mappings {
		m := &mappings[i]
		if m.Path != "[vdso]" {
			continue
		}
		data := make([]byte, m.End-m.Start)
		if err := memory.ReadMemory(data, m.Start); err != nil {
			t.Fatal(err)
		}
		f, err := object.NewFile(data, m.Path)
		if err != nil {
			t.Fatal(err)
		}
		testVDSO(t, f)
		return
	}
	t.Skip("skipped: this kernel has no vDSO")
}

func testVDSO(t *testing.T, f *object.File) {
	made, err := NewFileSynthesizer(f, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s := range f.Symbols() {
		if s.Type != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		n++
		if r, err := made.Function(s.Address, s.Size); err != nil || r.Undecided > 0 {
			t.Errorf("%s: %+v, %v", s.Name, r, err)
		}
	}
	if n < 3 {
		t.Errorf("%d functions with a symbol", n)
	}
	if s, err := f.EHFrame(); s == nil && err == nil {
		t.Log("this kernel's vDSO has no unwind table") // that of Linux 6.1 for arm64
		return
	}
	r, err := File(f, Options{})
	if err != nil || r.Functions < 4 || len(r.Findings) > 0 || r.Agree < 100 {
		t.Errorf("%+v, %v", r, err)
	}
	var a agreement
	compareSynthesized(t, f, &a, everything)
	t.Log(&a)
	if a.functions < 4 || a.unsure > 0 {
		t.Error("too little is decided")
	}
}
