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

// The files that answer the questions in CONTRIBUTING.md exist and contain the text in the table.
func TestQuestionsAreAnswered(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (.*\\?) \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 20 {
		t.Errorf("%d questions, expected 20", len(rows))
	}
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(root, row[2]))
		if err != nil || !strings.Contains(string(text), row[3]) {
			t.Errorf("%s: %s has no %q (%v)", row[1], row[2], row[3], err)
		}
	}
}
