// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/unwind"
)

// At 999 samples a second the copies of all stacks have 16 KiB, and those of a thread with a longer stack get larger.
func TestDeepStacks(t *testing.T) {
	program := testprogram.Build(t, "deepwork.c", "-O2", "-fomit-frame-pointer", "-pthread")
	var out, raw bytes.Buffer
	cmd := exec.Command(program, "1500", "3500")
	cmd.Stdout = &out
	most, last := 0, 0
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, Frequency: 999, Raw: &raw, Status: func(record.Status) {
		files, _ := filepath.Glob("/proc/self/fd/*")
		last = 0
		for _, f := range files {
			if name, _ := os.Readlink(f); strings.Contains(name, "perf_event") {
				last++
			}
		}
		most = max(most, last)
	}})
	if err != nil {
		t.Fatal(err)
	}
	ran, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
	if err != nil {
		t.Fatal(err)
	}
	whole, cut, all := 0, 0, 0.0
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		names := functions(rec, s)
		if slices.Contains(names, "beside") || slices.Contains(names, "main") {
			continue
		}
		all += float64(s.Weight)
		if !slices.Contains(names, "deep") {
			continue
		}
		switch {
		case s.Reason != unwind.EndOfStack:
			cut += int(s.Samples)
		case !slices.Contains(names, "first"):
			t.Errorf("%d samples in deep without its outermost function: %q", s.Samples, names)
		default:
			whole += int(s.Samples)
		}
	}
	// The first look comes after 100 ms, or more if the machine is busy.
	if whole < 2*cut {
		t.Errorf("of the samples in deep %d are whole, and %d are not", whole, cut)
	}
	// While the thread has two events, its samples are not counted twice, and none are left out.
	if math.Abs(all/ran-1) > 0.1 {
		t.Errorf("samples of %.3f ms of a thread that ran %.3f ms", all/1e6, ran/1e6)
	}
	if most <= last {
		t.Errorf("there were at most %d files of events, and %d at the end: the event of one thread was not opened or not closed", most, last)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, raw.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	perf, err := exec.Command(testprogram.RequireTool(t, "perf"), "script", "-F", "ip,sym", "-i", path).Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	stacks := 0
	for stack := range strings.SplitSeq(string(perf), "\n\n") {
		if strings.Contains(stack, " deep\n") && strings.Contains(stack, " first\n") {
			stacks++
		}
	}
	if stacks < whole*9/10 {
		t.Errorf("perf script shows %d whole stacks in deep, clew %d", stacks, whole)
	}
}
