// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
)

var gccgoFrame = regexp.MustCompile(`^ *#\d+ +(?:0x[0-9a-f]+ +)?([^ +]+\.[^ +]+)(?:\+0x[0-9a-f]+ in [^ ]+)?(?: \(.*\))? at .*/(?:gccgo|libgo)/`)

// Functions that gccgo compiled have the same names, those of the source, with and without
// their arguments, and without debugging information.
func TestGccgoNames(t *testing.T) {
	t.Setenv("GOTRACEBACK", "crash")
	for _, flags := range sample.Of(t, [][]string{{"-O0"}, {"-O2"}, {"-O0", "-static-libgo"}}, 1) {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			packages := filepath.Join(dir, "example.com/my-pkg")
			if err := os.MkdirAll(packages, 0o755); err != nil {
				t.Fatal(err)
			}
			source, err := filepath.Abs("testdata/gccgo")
			if err != nil {
				t.Fatal(err)
			}
			inner, program := filepath.Join(packages, "inner_x.o"), filepath.Join(dir, "program")
			run(t, "gccgo", append(flags, "-g", "-c", "-fgo-pkgpath=example.com/my-pkg/inner_x", "-o", inner, filepath.Join(source, "inner_x/inner.go"))...)
			run(t, "gccgo", append(flags, "-g", "-I", dir, "-o", program, filepath.Join(source, "main.go"), inner)...)
			stacks := coreStacks(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), nil)
			names := func() (list []string) {
				var out bytes.Buffer
				if err := stacks.Text(&out, trace.Options{AllFrames: true}); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(out.String()) {
					if m := gccgoFrame.FindStringSubmatch(line); m != nil {
						list = append(list, m[1])
					}
				}
				return list
			}
			with := names()
			stacks.Variables = nil
			without := names()
			if !slices.Equal(with, without) {
				t.Errorf("with arguments %q, without %q", with, without)
			}
			for _, want := range []string{"main.main", "main.deferred", "example.com/my-pkg/inner_x.Call_it", "example.com/my-pkg/inner_x.Typ_x.Größe_1",
				"example.com/my-pkg/inner_x.Call_it..func1", "example.com/my-pkg/inner_x.crash_2"} {
				if !slices.Contains(without, want) {
					t.Errorf("%s is missing: %q", want, without)
				}
			}
		})
	}
}
