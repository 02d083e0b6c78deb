// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// The lists of all variables and types have their places, without declarations of others.
func TestDeclarations(t *testing.T) {
	source := filepath.Join(t.TempDir(), "declared.c")
	text := "struct point { int x; };\ntypedef struct point point_t;\nextern int other;\nstatic point_t here;\nint *there;\nint get(void) { return here.x + other + *there; }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := object.Open(build(t, "gcc", source, "-c"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(list []value.Declaration, err error) (lines []string) {
		if err != nil {
			t.Error(err)
		}
		for _, d := range list {
			if d.File != source {
				t.Errorf("%s is in %q, want %q", d.Name, d.File, source)
			}
			lines = append(lines, fmt.Sprintf("%d %s", d.Line, d.Type.Declare(d.Name)))
		}
		slices.Sort(lines)
		return lines
	}
	if got, want := texts(info.Variables()), []string{"4 point_t here", "5 int *there"}; !slices.Equal(got, want) {
		t.Errorf("variables %q, want %q", got, want)
	}
	if got, want := texts(info.Types()), []string{"0 int int", "1 struct point point", "2 point_t point_t"}; !slices.Equal(got, want) {
		t.Errorf("types %q, want %q", got, want)
	}
}
