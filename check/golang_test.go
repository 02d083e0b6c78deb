// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Go's functions preserve no registers, which is not a finding. What remains is in assembly:
// that of the runtime changes stacks, and block of chacha8rand stores a variable at the bottom
// of its frame, where the return address is saved on arm64.
func TestGoProgram(t *testing.T) {
	for _, machine := range []string{"amd64", "arm64"} {
		t.Run(machine, func(t *testing.T) { testGoProgram(t, machine) })
	}
}

func testGoProgram(t *testing.T, machine string) {
	f := open(t, testprogram.BuildGoFor(t, machine, "goroutines"))
	r, err := File(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Functions < 500 || len(r.Findings) > 12 {
		t.Errorf("%d findings in %d functions", len(r.Findings), r.Functions)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Name != "internal/chacha8rand.block" && f.Name != "runtime.mcall" && !(strings.HasPrefix(f.Name, "runtime.") && strings.HasSuffix(f.Name, ".abi0")) {
			t.Errorf("%s: %v", f.Name, f)
		}
	}
}
