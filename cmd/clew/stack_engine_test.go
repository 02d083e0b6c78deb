// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// All forms of the command walk through an engine with its own stack, which is copied while the
// process stands still.
func TestStackOfEngine(t *testing.T) {
	p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), "wait")
	time.Sleep(50 * time.Millisecond)
	frames := regexp.MustCompile(`(?s)main\.host\b.*\bcallHost\b.*\bmiddle\b.*\bouter\b.*\benter\b.*call\.Code\b.*main\.main\b`)
	for _, args := range [][]string{nil, {"--goroutines"}, {"--hold"}, {"--json"}, {"--json", "--goroutines"}, {"--watch", "10ms", "-n", "5"}} {
		out, err := clew(t, append([]string{"stack", fmt.Sprint(p.PID)}, args...)...).CombinedOutput()
		if err != nil || !frames.Match(out) || strings.Contains(string(out), "ran on") || strings.Contains(string(out), `"late"`) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}
