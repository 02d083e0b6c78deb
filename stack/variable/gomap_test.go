// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package variable_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// A map is shown with its keys and values, up to the limit: a small map, one of many tables,
// one from which most entries were deleted, and one that stores its entries by address.
func TestGoMaps(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "gomaps", "-gcflags=all=-N -l"))
	p.Settle(t)
	text := stacksText(t, p.PID, false)
	_, line, _ := strings.Cut(text, "  main.hold (")
	line, _, _ = strings.Cut(line, ") at ")
	ones, twos := "[1,0,0,0,0,0,0,0,...+192 more]", "[2,0,0,0,0,0,0,0,...+192 more]"
	for _, want := range []string{
		"none=map[string]int nil", "empty=map[int]int []", `small=map[string]int ["a": 1]`,
		`structs=map[main.pair][]int [{a: 1, b: "x"}: [1,2]]`,
		`nested=map[string]map[int]bool ["n": [1: true]]`,
		`anything=map[interface {}]interface {} ["two": 2.5]`,
		"keys=map[main.large]int [" + ones + ": 5]", "values=map[int]main.large [5: " + twos + "]",
		`set=map[string]struct {} ["s": {}]`, "floats=map[float64]int8 [0.5: -1]",
	} {
		if !strings.Contains(", "+line+", ", ", "+want+", ") {
			t.Errorf("%s is not in\n%s", want, line)
		}
	}
	if !regexp.MustCompile(`pointers=map\[int\]\*main\.large \[6: \(\*main\.large\)\(0x[0-9a-f]+\)\]`).MatchString(line) {
		t.Errorf("pointers: %s", line)
	}
	for name, want := range map[string]struct {
		from, shown int
		more        string
	}{
		"full": {0, 8, ""}, "many": {0, 8, ", ...+4992 more"}, "rest": {1990, 8, ", ...+2 more"},
	} {
		m := regexp.MustCompile(name + `=map\[int\](?:int|string) \[((?:"?\d+"?: "?\d+"?(?:, )?)+)((?:\.\.\.\+\d+ more)?)\]`).FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s is not in\n%s", name, line)
			continue
		}
		seen := make(map[string]bool)
		for pair := range strings.SplitSeq(strings.TrimSuffix(m[1], ", "), ", ") {
			key, value, _ := strings.Cut(pair, ": ")
			if n, err := strconv.Atoi(key); err != nil || n < want.from || strings.Trim(value, `"`) != key || seen[key] {
				t.Errorf("%s: %s", name, pair)
			}
			seen[key] = true
		}
		if len(seen) != want.shown || (want.more != "") != (m[2] != "") || !strings.HasSuffix(want.more, m[2]) {
			t.Errorf("%s: %d of its elements, %s: %s", name, len(seen), m[2], m[0])
		}
	}
}
