// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// TestComplex prints complex numbers before and after their types are loaded. Complex integers of
// gcc have an encoding that gdb 13 does not know ("'n' has unknown type"). They are printed as gdb
// prints other complex numbers.
func TestComplex(t *testing.T) {
	source := filepath.Join(t.TempDir(), "complex.c")
	text := `_Complex int n = 3 - 4i, pair[2] = {1 + 2i, -5 - 6i}; _Complex long wide = 7;
		_Complex double d[2] = {1 + 2i, 3 - 4i};
		int main(void) { return 0; }`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	program := build(t, "gcc", source, "-no-pie")
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".data")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	memory := dump{{section.Addr, data}}
	for _, test := range []struct {
		name   string
		format byte
		want   string
	}{
		{"n", 0, "3 + -4i"},
		{"pair", 0, "{1 + 2i, -5 + -6i}"},
		{"pair", 'x', "{0x1 + 0x2i, 0xfffffffb + 0xfffffffai}"},
		{"d", 0, "{1 + 2i, 3 + -4i}"},
		{"d", 'f', "{1 + 2i, 3 + -4i}"},
	} {
		v, err := info.Global(test.name, 0)
		if err != nil {
			t.Fatal(err)
		}
		v.Type.Elem().Elem() // loading a type does not change how it is printed
		p := print.Printer{Format: test.format}
		if got, err := p.Print(v.Read(value.Static(memory, info, 0))); got != test.want || err != nil {
			t.Errorf("%s: %s, %v; expected %s", test.name, got, err, test.want)
		}
	}
	// For the others gcc writes neither the type nor the sign ("__unknown__").
	v, err := info.Global("wide", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Read(value.Static(memory, info, 0)).Err(); !errors.Is(err, value.ErrDebugInfo) {
		t.Errorf("a complex long: %v", err)
	}
}
