// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && amd64

package libgcc

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

// TestLinked checks that an unwinder is found that the linker put into the program,
// where dlsym does not find it.
func TestLinked(t *testing.T) {
	for _, tool := range []string{"go", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("skipped: " + tool + " is not installed")
		}
	}
	tests := []struct {
		name     string
		flags    []string // of go build
		libstdcc string   // CGO_LDFLAGS
		needed   bool     // the program needs libgcc_s.so.1
	}{
		{"static", []string{`-ldflags=-extldflags "-static"`}, "-static-libgcc -static-libstdc++", false},
		// libstdc++.a is named because gcc links, not g++.
		{"static libgcc", []string{"-ldflags=-extldflags -static-libgcc"}, "-static-libgcc -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic", false},
		{"static libgcc, pie", []string{"-buildmode=pie", "-ldflags=-extldflags -static-libgcc"}, "-static-libgcc -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic", false},
		{"dynamic", nil, "", true},
		{"dynamic, pie", []string{"-buildmode=pie"}, "", true},
	}
	for _, test := range sample.Of(t, tests, 2) {
		t.Run(test.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			build := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", program}, test.flags...), "./testdata/static")...)
			build.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_LDFLAGS="+test.libstdcc)
			out, err := build.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v\n%s", build, err, out)
			}
			if strings.Contains(string(out), "warning") {
				t.Errorf("the linker warns:\n%s", out)
			}
			f, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			libraries, err := f.ImportedLibraries()
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(libraries, "libgcc_s.so.1") != test.needed {
				t.Errorf("the program needs %q", libraries)
			}
			got, err := exec.Command(program).CombinedOutput()
			if want := "caught 1\ncaught 2\ncaught 3\n"; err != nil || string(got) != want {
				t.Errorf("%v\n%s\nexpected\n%s", err, got, want)
			}
		})
	}
}
