// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// What stands in packages of Ada and in modules of Fortran is found by its name in the
// source, at the addresses that gdb has.
func TestQualifiedNames(t *testing.T) {
	for _, test := range []struct {
		files     map[string]string
		compiler  []string // and its arguments
		functions []string
		variables []string
	}{
		{map[string]string{
			"outer.ads": `package Outer is
   Global : Integer := 5;
   package Inner is
      Deep : Integer := 6;
      procedure Nested (N : Integer);
      procedure Nested (N : Float);
   end Inner;
end Outer;
`,
			"outer.adb": `package body Outer is
   package body Inner is
      procedure Nested (N : Integer) is begin Deep := N; end Nested;
      procedure Nested (N : Float) is begin Global := Integer (N); end Nested;
   end Inner;
end Outer;
`,
			"uses.adb": `with Outer;
procedure Uses is
begin
   Outer.Inner.Nested (3);
   Outer.Inner.Nested (3.0);
end Uses;
`}, []string{"gnatmake", "-q", "-g", "uses.adb"}, []string{"outer.inner.nested", "uses"}, []string{"outer.global", "outer.inner.deep"}},
		{map[string]string{"modules.f90": `module store
  integer :: counter = 42
contains
  subroutine add(n)
    integer :: n
    counter = counter + n
  end subroutine
end module
program main
  use store
  call add(3)
end program
`}, []string{"gfortran", "-g", "modules.f90"}, []string{"store::add"}, []string{"store::counter"}},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "program")
		for name, text := range test.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		build := exec.Command(testprogram.RequireTool(t, test.compiler[0]), append(test.compiler[1:], "-o", program)...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := object.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		gdb := func(command string) string {
			out, _ := exec.Command(testprogram.RequireTool(t, "gdb"), "-q", "-batch", "-nx", "-ex", command, program).CombinedOutput()
			return string(out)
		}
		for _, name := range test.functions {
			list, err := info.Functions(name)
			lines := gdb("info line " + name)
			for _, fn := range list {
				if !strings.Contains(lines, fmt.Sprintf("starts at address %#x", fn.Entry)) {
					t.Errorf("%s at %#x; gdb: %s", name, fn.Entry, lines)
				}
			}
			if err != nil || len(list) == 0 || len(list) != strings.Count(lines, "starts at address") {
				t.Errorf("%s: %d functions (%v); gdb: %s", name, len(list), err, lines)
			}
		}
		for _, name := range test.variables {
			v, err := info.Global(name, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			address, _ := v.Read(Static(f, info, 0)).Address()
			if theirs := gdb("print &" + name); !strings.Contains(theirs, fmt.Sprintf("%#x", address)) {
				t.Errorf("%s at %#x; gdb: %s", name, address, theirs)
			}
		}
	}
}
