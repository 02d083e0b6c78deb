// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/target"
)

// The stack of a program that ld.so prepares ends at its entry point, of which it
// has no call frame information.
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
	sections, _, err := target.CallFrames(f)
	if err != nil {
		t.Fatal(err)
	}
	source, _ := target.GoSource(sections, f)
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
	// Elsewhere nothing is made up.
	for _, at := range []uint64{entry - 1, 0, ^uint64(0)} {
		want, wantErr := sections.Rules(at)
		if got, err := source.Rules(at); (got == nil) != (want == nil) || (err == nil) != (wantErr == nil) {
			t.Errorf("%#x: %+v, %v; expected %+v, %v", at, got, err, want, wantErr)
		}
	}
}
