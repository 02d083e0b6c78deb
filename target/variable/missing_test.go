// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// What is found to be missing only as it is read is said in JSON where all that is
// missing is. The locations that clang gives lead to registers that calls have changed.
func TestMissingInJSON(t *testing.T) {
	program := compile(t, "clang -O2", "frames.c")
	r := coreStacks(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), nil)
	r.Locals = true
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for line := range bytes.Lines(out.Bytes()) {
		var decoded any
		if err := json.Unmarshal(line, &decoded); err != nil {
			t.Fatal(err)
		}
		missing += missingIn(t, decoded)
	}
	if missing == 0 {
		t.Errorf("nothing is missing: %s", &out)
	}
}

// missingIn counts the variables below a value of JSON that are optimized out.
func missingIn(t *testing.T, in any) (n int) {
	switch in := in.(type) {
	case []any:
		for _, e := range in {
			n += missingIn(t, e)
		}
	case map[string]any:
		if text, _ := in["value"].(string); strings.HasPrefix(text, "<") {
			t.Errorf("%v has no value", in)
		}
		if in["error"] == "optimized out" {
			n++
		}
		for _, e := range in {
			n += missingIn(t, e)
		}
	}
	return n
}
