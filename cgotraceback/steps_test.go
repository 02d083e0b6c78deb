// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package cgotraceback_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestEachInstruction walks at each instruction of code of the C and C++ libraries, with a
// longjmp and a C++ exception in it. The walk must have the calls that were seen, no more and
// no less. It may differ only where longjmp and libgcc's unwinder replace return addresses and
// registers.
func TestEachInstruction(t *testing.T) {
	t.Setenv("NAMES_ONLY", "1")
	out := output(t, build(t, nil), "steps")
	var steps, wrong, cut int
	m := regexp.MustCompile(`(?m)^(\d+) steps, (\d+) wrong, (\d+) cut$`).FindString(out)
	if _, err := fmt.Sscanf(m, "%d steps, %d wrong, %d cut", &steps, &wrong, &cut); err != nil {
		t.Fatal(out)
	}
	for _, line := range regexp.MustCompile(`(?m)^(wrong|cut) .*at .*`).FindAllString(out, -1) {
		if !strings.Contains(line, " in longjmp at ") && !strings.Contains(line, "/libgcc_s.so") {
			t.Error(line)
		}
	}
	t.Log(m)
	if steps < 10000 || cut != 0 || wrong > steps/100 {
		t.Errorf("%s, want fewer", m)
	}
}
