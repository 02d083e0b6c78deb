// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/object"
)

// TestFindSymbol compares the symbols that the publisher finds in files with those
// that package object finds.
func TestFindSymbol(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./testdata/jit").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	libraries, _ := filepath.Glob("/usr/lib/*-linux-gnu/lib[cm].so.6")
	for _, path := range append(libraries, program) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := object.NewFile(data, path)
		if err != nil {
			t.Fatal(err)
		}
		var code codeMapping
		for _, p := range f.Segments() {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
				code.start, code.offset = 0x7f0000000000+p.Vaddr&^0xfff, p.Off&^0xfff
			}
		}
		found := 0
		for _, name := range []string{"environ", "signgam", "_IO_2_1_stdout_", "__jit_debug_descriptor", "runtime.sched", "no_such"} {
			want, ok := f.Symbol(name)
			bias, _ := f.Bias(code.start, code.offset, true)
			addresses := findSymbol(bytes.NewReader(data), name, code)
			if ok != (len(addresses) > 0) || ok && !slices.Contains(addresses, want.Address+bias) {
				t.Errorf("%s: %s at %#x, expected %#x, %t", path, name, addresses, want.Address+bias, ok)
			}
			if ok {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s has none of the symbols", path)
		}
	}
}

// FuzzFindSymbol checks that no file makes the lookup panic.
func FuzzFindSymbol(f *testing.F) {
	image, err := os.ReadFile("../symfile/testdata/x86-64.elf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(image)
	segment := append(bytes.Clone(image), make([]byte, 56)...)
	segment[33], segment[32] = byte(len(image)>>8), byte(len(image))
	segment[54], segment[56] = 56, 1
	segment[len(image)], segment[len(image)+4] = byte(elf.PT_LOAD), byte(elf.PF_X)
	segment[len(image)+32] = 1
	f.Add(segment)
	f.Fuzz(func(t *testing.T, data []byte) {
		findSymbol(bytes.NewReader(data), "leaf", codeMapping{start: 0x1000})
	})
}
