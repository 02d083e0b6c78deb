// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// The hand-written tables of libraries have the known findings, and no others: docs/findings.md lists
// them.
func TestHandwritten(t *testing.T) {
	const amd64, arm64 = "/usr/lib/x86_64-linux-gnu/", "usr/lib/aarch64-linux-gnu/"
	for _, test := range []struct {
		path      string
		functions int // at least
		defective int // at most
	}{
		{amd64 + "libffi.so.8", 60, 0},
		{amd64 + "libgo.so.21", 20000, 0}, // with libffi in it
		{amd64 + "libcrypto.so.3", 10000, 4},
		{testprogram.ARM64File(arm64 + "libcrypto.so.3"), 10000, 0},
		{testprogram.ARM64File("bin/bash"), 2000, 0},
	} {
		t.Run(test.path, func(t *testing.T) {
			f, err := object.Open(test.path)
			if err != nil {
				t.Skipf("skipped: %s is not installed", test.path)
			}
			defer f.Close()
			r, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Functions < test.functions || r.Defective > test.defective || r.Undecided*10 > r.Instructions {
				t.Errorf("%+v", r.Counters)
			}
			if r.Defective > test.defective {
				for i := range r.Findings {
					t.Error(&r.Findings[i])
				}
			}
		})
	}
}
