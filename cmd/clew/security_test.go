// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each row of the table in SECURITY.md names tests, and these tests exist.
func TestSecurityNamesTests(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+): ((?:Test|Fuzz)[A-Za-z0-9]+)`")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| input |") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(line, -1)
		if cells := strings.Count(line, " | "); cells != 3 || len(tests) == 0 {
			t.Errorf("a row of %d cells names %d tests: %s", cells+1, len(tests), line)
		}
		for _, name := range tests {
			if !isTest(t, filepath.Join(root, name[1]), name[2]) {
				t.Errorf("SECURITY.md: package %s has no %s", name[1], name[2])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows", rows)
	}
}

// isTest reports whether a test file of a folder declares a test.
func isTest(t *testing.T, folder, name string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
