// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

// TestRust compares arguments of a function of Rust with gdb's output.
// For split units gdb reads the same program.
func TestRust(t *testing.T) {
	rustc := tool(t, "rustc")
	t.Setenv("RUSTC_BOOTSTRAP", "1") // Debian 12 has rustc 1.63, where splitting was not stable
	source := filepath.Join("testdata", "enums.rs")
	for _, split := range append(sample.Of(t, []string{"packed", "unpacked"}, 1), "off") {
		t.Run(split, func(t *testing.T) {
			program := build(t, rustc, source, "-Zunstable-options", "-Csplit-debuginfo="+split)
			parts, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dw[op]"))
			if err != nil || (len(parts) > 0) != (split != "off") {
				t.Fatalf("%q, %v", parts, err)
			}
			s := newSession(t, program)
			compared := 0
			stops := gdbStops(t, program, source, s.machine)
			for k := range stops {
				frames, groups := s.physical(&stops[k])
				f := frames[0]
				_, lookup := f.ProgramCounter()
				scopes, err := s.info.Scopes(lookup - f.bias)
				if err != nil || len(scopes) != 1 || scopes[0].Function.Name != "enums::take" {
					t.Fatalf("%+v, %v", scopes, err)
				}
				g := groups[f][0]
				if g.Name != scopes[0].Function.Name {
					t.Errorf("function %s, gdb has %s", scopes[0].Function.Name, g.Name)
				}
				s.list(g, "info args", g.Args, scopes[0].Arguments, f)
				compared += len(scopes[0].Arguments)
			}
			if compared != 30 {
				t.Errorf("%d arguments compared in %d stops", compared, len(stops))
			}
		})
	}
}
