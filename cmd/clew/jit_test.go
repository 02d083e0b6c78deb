// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clewdev/clew/internal/budget"
)

// Of the files that a recording leads to no more is read than the budget has, and
// what was left out is said.
func TestJITBudget(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "perf-1.map")
	const text = "1000 10 first\n2000 10 second\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		budget  budget.Files
		entries int
		err     string // of the source, or why there is none
	}{
		{2 * budget.Files(len(text)), 2, ""},
		{14, 1, "only the first 14 of its 29 bytes were read"},
		{0, 0, "only the first 0 of its 29 bytes were read"},
	} {
		target := &jitTarget{budget: test.budget}
		source, err := target.readSource(path)
		entries := 0
		if source != nil {
			entries, err = source.Entries, source.Err
		}
		if entries != test.entries || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("of %d bytes: %d entries, %v", test.budget, entries, err)
		}
		if left := max(test.budget-budget.Files(len(text)), 0); target.budget != left {
			t.Errorf("of %d bytes %d are left, want %d", test.budget, target.budget, left)
		}
	}
	fifo := filepath.Join(dir, "perf-2.map")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&jitTarget{budget: 1}).readSource(fifo); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("a pipe: %v", err)
	}
}
