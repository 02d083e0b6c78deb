// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// TestModule finds a function in a module of Fortran, which has a qualified name. The module is a
// namespace of g++ with another tag.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	source, assembly, program := filepath.Join(dir, "m.cc"), filepath.Join(dir, "m.s"), filepath.Join(dir, "m")
	if err := os.WriteFile(source, []byte("namespace ns { int f(int x) { return x + 1; } }\nint main() { return ns::f(1); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(testprogram.RequireTool(t, "g++"), args...).CombinedOutput(); err != nil {
			t.Fatalf("g++: %v\n%s", err, out)
		}
	}
	compile("-S", "-g", "-O0", "-dA", "-o", assembly, source)
	text, err := os.ReadFile(assembly)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, change := range [][2]string{
		{".byte\t0x21\t# DW_AT_language", ".byte\t0x22"}, // Fortran 2003
		{".uleb128 0x39\t# (TAG: DW_TAG_namespace)", ".uleb128 0x1e"},
		{"_ZN2ns1fEi", "__ns_MOD_f"},
	} {
		if !strings.Contains(changed, change[0]) {
			t.Fatalf("g++ writes no %q", change[0])
		}
		changed = strings.ReplaceAll(changed, change[0], change[1])
	}
	if err := os.WriteFile(assembly, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	compile("-o", program, assembly)
	for _, located := range []bool{false, true} {
		f, err := object.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, ok := f.Symbol("__ns_MOD_f")
		if !ok {
			t.Fatal("no __ns_MOD_f")
		}
		if located {
			if _, err := f.Locate(s.Address); err != nil {
				t.Fatal(err)
			}
		}
		info, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		scopes, err := info.Scopes(s.Address)
		if err != nil || len(scopes) != 1 || scopes[0].Function.Name != "ns::f" {
			t.Errorf("located before: %t: %+v, %v", located, scopes, err)
		}
	}
}
