// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// The stack of a program that ld.so prepares ends at its entry point, which has no call frame
// information.
func TestEntryPoint(t *testing.T) {
	paths, _ := filepath.Glob("/lib*/ld-linux*.so.*")
	if len(paths) == 0 {
		t.Skip("skipped: ld.so is not installed")
	}
	f, err := object.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	eh, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	sections := unwind.Sections{EHFrame: eh, DebugFrame: f.DebugFrame}
	source := stack.ReadTables(f, false).Source
	entry := f.Entry()
	for _, at := range []uint64{entry, entry + 7} {
		if _, err := sections.Rules(at); !errors.Is(err, cfi.ErrNoFDE) {
			t.Skipf("ld.so describes its entry point: %v", err)
		}
		rules, err := source.Rules(at)
		if err != nil || len(rules.Registers) != 1 || rules.Registers[0].Kind != cfi.Undefined || uint64(rules.Registers[0].Column) != rules.ReturnAddress {
			t.Errorf("%#x: %+v, %v", at, rules, err)
		}
	}
	// Other addresses get no rules.
	for _, at := range []uint64{entry - 1, 0, ^uint64(0)} {
		want, wantErr := sections.Rules(at)
		if got, err := source.Rules(at); (got == nil) != (want == nil) || (err == nil) != (wantErr == nil) {
			t.Errorf("%#x: %+v, %v; expected %+v, %v", at, got, err, want, wantErr)
		}
	}
}

// The same for a file without a table, as on MIPS, m68k and sparc64: the function extends to
// the next symbol, even if that is a label.
func TestEntryPointWithoutTable(t *testing.T) {
	as, ld := testprogram.RequireTool(t, "as"), testprogram.RequireTool(t, "ld")
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	for _, test := range []struct {
		name, start, end string
		strip            bool
		want             int // how many bytes end the stack
	}{
		{"function", ".type _start, %function\n", "", false, 8},
		{"size", "", ".size _start, 8\n", false, 8},
		{"label", "", "", false, 8},
		{"stripped", ".type _start, %function\n", ".size _start, 8\n", true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := ".globl _start\n.skip 16, 0x90\n" + test.start + "_start: .skip 8, 0x90\n" + test.end + "next: .skip 16, 0x90\n"
			flags := []string{"-o", program, program + ".o"}
			if test.strip {
				flags = append(flags, "-s")
			}
			if err := os.WriteFile(program+".s", []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, cmd := range []*exec.Cmd{exec.Command(as, "-o", program+".o", program+".s"), exec.Command(ld, flags...)} {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			f, err := object.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			source := stack.ReadTables(f, false).Source
			for at := f.Entry() - 16; at < f.Entry()+24; at++ {
				rules, err := source.Rules(at)
				ends := err == nil && len(rules.Registers) == 1 && rules.Registers[0].Kind == cfi.Undefined
				if want := at-f.Entry() < uint64(test.want); ends != want || !ends && !errors.Is(err, cfi.ErrNoFDE) {
					t.Errorf("%#x of %#x: %+v, %v", at, f.Entry(), rules, err)
				}
			}
		})
	}
}
