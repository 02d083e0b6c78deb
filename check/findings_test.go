// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The minimal reproducers of docs/findings.md give the finding that their first line names, at
// the label here.
func TestReproducers(t *testing.T) {
	files, err := filepath.Glob("testdata/findings/*.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no reproducers:", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kind, _, ok := strings.Cut(strings.TrimPrefix(string(source), "// "), ":")
			if !ok {
				t.Fatal("the first line names no kind")
			}
			machine := ""
			if strings.HasSuffix(file, ".arm64.s") {
				machine = "arm64"
			}
			f := assemble(t, machine, string(source))
			r, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			here, _ := f.Symbol("here")
			if len(r.Findings) == 0 {
				t.Fatalf("no finding: %+v", r.Counters)
			}
			if g := &r.Findings[0]; g.Address != here.Address || g.Kind.String() != kind {
				t.Errorf("%v, want %s at %#x", g, kind, here.Address)
			}
		})
	}
}
