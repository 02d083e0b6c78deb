// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
)

// Samples in C code without frame pointers that Go called, and in Go code that C called, reach the start of
// the goroutine. In long calls many have all callers too. Two callers take turns, and no stack has functions
// of both.
func TestGoCalls(t *testing.T) {
	path := testprogram.BuildCgo(t, "gocalls")
	a := []string{"main.callA", "viaA", "main.goA", "main.backA", "inA", "main.spinA"}
	b := []string{"main.callB", "viaB", "main.goB", "main.backB", "inB", "main.spinB"}
	all := map[string][]string{
		"c":    {"main.call", "in"},
		"go":   {"main.call", "via", "main.go", "main.spin"},
		"deep": {"main.call", "via", "main.go", "main.back", "in"},
	}
	for kind, functionsOf := range all {
		for _, microseconds := range []string{"50000", "10"} {
			t.Run(kind+" "+microseconds, func(t *testing.T) {
				cmd := exec.Command(path, kind, microseconds, "0")
				ctx, options := untilProgram(t, 700, path)
				rec, err := record.Run(ctx, record.Options{Command: cmd, Frequency: 499, Recording: options})
				if err != nil {
					t.Fatal(err)
				}
				complete, samples := uint64(0), uint64(0)
				for i := range rec.Stacks {
					s := &rec.Stacks[i]
					names := functions(rec, s)
					isA, isB := containsAny(names, a), containsAny(names, b)
					if isA && isB {
						t.Errorf("%d samples are in functions of both callers: %q", s.Samples, names)
					}
					if !isA && !isB {
						continue
					}
					samples += s.Samples
					letter := "A"
					if isB {
						letter = "B"
					}
					if !slices.ContainsFunc(functionsOf, func(f string) bool { return !slices.Contains(names, f+letter) }) &&
						slices.Contains(names, "main.main") && slices.Contains(names, "runtime.main") {
						complete += s.Samples
					}
				}
				t.Logf("%d of %d samples have all callers", complete, samples)
				if share := whole(t, rec, "gocalls"); share < 0.95 || samples < 100 {
					t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, samples)
				}
				if microseconds != "10" && 4*complete < samples {
					t.Errorf("only %d of %d samples have all callers", complete, samples)
				}
			})
		}
	}
}

// Samples in C code have the labels of the goroutine that called it, also if the thread has no sample in Go
// code, and if the kernel's call chain has all callers because the C code has frame pointers. Threads of C code have
// no labels to miss.
func TestLabelsInC(t *testing.T) {
	for _, tag := range []string{"default", "framepointer"} {
		t.Run(tag, func(t *testing.T) { testLabelsInC(t, testprogram.BuildCgo(t, "cgolabels", "-tags="+tag)) })
	}
}

func testLabelsInC(t *testing.T, path string) {
	t.Helper()
	ctx, options := untilProgram(t, 1400, path)
	rec, err := record.Run(ctx, record.Options{Command: exec.Command(path), Frequency: 499, Recording: options})
	if err != nil {
		t.Fatal(err)
	}
	all, labelled, alone := uint64(0), uint64(0), uint64(0)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		names := functions(rec, s)
		switch {
		case slices.Contains(names, "alone"):
			alone += s.Samples
		case slices.Contains(names, "spin"):
			all += s.Samples
			for key, value := range rec.Threads[s.Thread].Labels() {
				if key != "route" || value != "c" {
					t.Errorf("label %q=%q", key, value)
				}
				labelled += s.Samples
			}
		}
	}
	unknown := uint64(0)
	for _, note := range rec.Notes {
		if _, err := fmt.Sscanf(note, "the labels of goroutines are unknown for %d", &unknown); err == nil {
			break
		}
	}
	if all < 50 || alone < 50 || 2*labelled < all || unknown > all-labelled+alone/10 {
		t.Errorf("%d of %d samples have labels, and %d are in a thread of C code; %q", labelled, all, alone, rec.Notes)
	}
}

func containsAny(names, of []string) bool {
	return slices.ContainsFunc(of, func(f string) bool { return slices.Contains(names, f) })
}
