// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Go's functions preserve no registers, which is not a finding. What remains is in assembly
// of its runtime that changes stacks.
func TestGoProgram(t *testing.T) {
	f := open(t, testprogram.BuildGoFor(t, "amd64", "goroutines"))
	r, err := File(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Functions < 500 || len(r.Findings) > 5 {
		t.Errorf("%d findings in %d functions", len(r.Findings), r.Functions)
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; !strings.HasPrefix(f.Name, "runtime.") || !strings.HasSuffix(f.Name, ".abi0") {
			t.Errorf("%s: %v", f.Name, f)
		}
	}
}
