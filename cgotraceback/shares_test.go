// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// withShares returns how many samples have cpp_step on their stack, and which share of these
// has each function, and has it innermost.
func withShares(samples [][]string) (total int, on, self map[string]float64) {
	on, self = make(map[string]float64), make(map[string]float64)
	for _, names := range samples {
		end := slices.Index(names, "cpp_step")
		if end < 0 {
			continue
		}
		total++
		self[names[0]]++
		for i, name := range names[:end] {
			if !slices.Contains(names[:i], name) {
				on[name]++
			}
		}
	}
	for _, shares := range []map[string]float64{on, self} {
		for name := range shares {
			shares[name] /= float64(total)
		}
	}
	return total, on, self
}

// TestSharesEqualPerf compares the shares of the functions of C, C++ and Rust in a CPU profile
// with those by perf, which records the program at the same time. perf does not know how to
// walk from Go to its callers in C, so that the frames within one call from Go are compared.
func TestSharesEqualPerf(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	path := build(t, nil)
	d := "4s"
	if sample.Full() {
		d = "30s"
	}
	data := filepath.Join(t.TempDir(), "perf.data")
	ours, _ := profiled(t, exec.Command(perf, "record", "-q", "-F", "499", "-e", "cpu-clock", "--call-graph", "dwarf,16384", "-o", data, "--", path, "shares", d))
	out, err := exec.Command(perf, "script", "-i", data, "-F", "ip,sym", "--no-inline").Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	var theirs [][]string
	for stack := range strings.SplitSeq(string(out), "\n\n") {
		var names []string
		for line := range strings.Lines(stack) {
			if _, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				name, _, _ = strings.Cut(name, "(")
				names = append(names, plain(name))
			}
		}
		if len(names) > 0 {
			theirs = append(theirs, names)
		}
	}
	n, on, self := withShares(ours)
	m, onTheirs, selfTheirs := withShares(theirs)
	compared := 0
	for kind, pair := range map[string][2]map[string]float64{"on the stack": {on, onTheirs}, "innermost": {self, selfTheirs}} {
		for name, p := range pair[1] {
			if p < 0.05 || strings.HasPrefix(name, "[") {
				continue
			}
			compared++
			// Five standard deviations of the difference. Two samples more on each side keep
			// shares of 0 and 1 from having none.
			pooled := (pair[0][name]*float64(n) + p*float64(m) + 2) / float64(n+m+4)
			most := 5 * math.Sqrt(pooled*(1-pooled)*(1/float64(n)+1/float64(m)))
			t.Logf("%s %s: %.1f%%, by perf %.1f%%, at most %.1f%% apart", name, kind, 100*pair[0][name], 100*p, 100*most)
			if math.Abs(pair[0][name]-p) > most {
				t.Errorf("%s %s: %.1f%% of %d samples, and %.1f%% of %d by perf", name, kind, 100*pair[0][name], n, 100*p, m)
			}
		}
	}
	if n < 50 || m < 200 || compared < 5 {
		t.Errorf("%d functions compared, of %d and %d samples", compared, n, m)
	}
}
