// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/clewdev/clew/object"
)

// TestLowerBound reads arrays without a lower bound: the language determines it (DWARF 5 table 7.17).
// In an unknown language the length is not known.
func TestLowerBound(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte("int numbers[3];"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(gcc, "-g", "-dA", "-S", "-o", "-", source).Output()
	if err != nil {
		t.Fatal(err)
	}
	language := regexp.MustCompile(`\.byte\s+\S+(\s+# DW_AT_language)`)
	if !language.Match(text) {
		t.Fatalf("gcc says no language:\n%s", text)
	}
	for _, test := range []struct {
		code  int
		lower int64
		known bool
	}{
		{0x02, 0, true},  // C
		{0x03, 1, true},  // Ada 83
		{0x06, 1, true},  // COBOL 85
		{0x07, 1, true},  // Fortran 77
		{0x09, 1, true},  // Pascal
		{0x0a, 1, true},  // Modula-2
		{0x0b, 0, true},  // Java
		{0x0d, 1, true},  // Ada 95
		{0x0f, 1, true},  // PL/I
		{0x13, 0, true},  // D
		{0x14, 0, true},  // Python
		{0x16, 0, true},  // Go
		{0x17, 1, true},  // Modula-3
		{0x1b, 0, true},  // OCaml
		{0x1c, 0, true},  // Rust
		{0x1e, 0, true},  // Swift
		{0x1f, 1, true},  // Julia
		{0x22, 1, true},  // Fortran 2003
		{0x2f, 1, true},  // Ada 2012
		{0x7e, 0, false}, // not assigned
	} {
		t.Run(fmt.Sprintf("%#x", test.code), func(t *testing.T) {
			dir := t.TempDir()
			assembly, file := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
			changed := language.ReplaceAll(text, fmt.Appendf(nil, ".byte %#x$1", test.code))
			if err := os.WriteFile(assembly, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(gcc, "-c", "-o", file, assembly).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f, err := object.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := Open(f)
			if err != nil {
				t.Fatal(err)
			}
			v, err := info.Global("numbers", 0)
			if err != nil {
				t.Fatal(err)
			}
			n, known := v.Type.Len()
			want := uint64(3 - test.lower)
			if known != test.known || known && (v.Type.lower != test.lower || n != want) {
				t.Errorf("%d elements from %d, %v; expected %d from %d, %v", n, v.Type.lower, known, want, test.lower, test.known)
			}
			if err := v.Read(new(pointingFrame)).Err(); errors.Is(err, ErrDebugInfo) == test.known {
				t.Error(err)
			}
		})
	}
}
