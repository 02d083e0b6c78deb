// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/internal/testprogram"
)

// gcc's table of a function equals the preset's, except that on amd64 gcc omits the
// callee-saved registers in epilogues.
func TestPresetsEqualGCC(t *testing.T) {
	const source = "int g(int); int f(int a) { return g(a) + 1; }"
	for _, test := range []struct {
		compiler string
		flags    []string
		machine  *arch.Machine
		make     func(*arch.Machine, preset.Frame) (*cfi.Program, error)
		frame    preset.Frame
		epilogue uint64 // bytes
	}{
		{"gcc", []string{"-fno-omit-frame-pointer", "-fcf-protection"}, amd64, preset.FramePointer, preset.Frame{Landing: true}, 2},
		{"gcc", []string{"-fno-omit-frame-pointer", "-fcf-protection=none"}, amd64, preset.FramePointer, preset.Frame{}, 2},
		{"gcc", []string{"-fomit-frame-pointer", "-fcf-protection=none"}, amd64, preset.Fixed, preset.Frame{Size: 8}, 5},
		{"aarch64-linux-gnu-gcc", []string{"-mbranch-protection=none"}, arm64, preset.FramePointer, preset.Frame{}, 8},
		{"aarch64-linux-gnu-gcc", []string{"-mbranch-protection=pac-ret"}, arm64, preset.FramePointer, preset.Frame{Signed: true}, 12},
	} {
		t.Run(test.machine.Name+strings.Join(test.flags, ""), func(t *testing.T) {
			testprogram.RequireTool(t, test.compiler)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(test.compiler, append(test.flags, "-O1", "-c", "f.c")...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want, size, _ := decoded(t, filepath.Join(dir, "f.o"), "f")
			test.frame.Epilogues = []preset.Epilogue{{Start: size - test.epilogue}}
			p, err := test.make(test.machine, test.frame)
			if err != nil {
				t.Fatal(err)
			}
			got := rows(t, written(t, p, size))
			// If sp does not move in the body, gcc continues to count from it.
			if test.machine == arm64 {
				for i := range got {
					got[i] = strings.ReplaceAll(got[i], "CFA=x29", "CFA=sp")
				}
				got = merged(got)
			}
			if n := len(want) - 1; test.machine == amd64 && n == len(got)-1 {
				want[n] = strings.Replace(want[n], " rbp=offset-16", "", 1)
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// merged joins successive rows with equal rules.
func merged(rows []string) []string {
	var out []string
	for _, line := range rows {
		span, rules, _ := strings.Cut(line, " ")
		if n := len(out); n > 0 && strings.HasSuffix(out[n-1], " "+rules) {
			first, _, _ := strings.Cut(out[n-1], "-")
			_, last, _ := strings.Cut(span, "-")
			out[n-1] = first + "-" + last + " " + rules
			continue
		}
		out = append(out, line)
	}
	return out
}
