// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The entries of RATIONALE.md are short, and each is in the section of a folder. The files, folders
// and identifiers of the module that they name exist.
func TestRationale(t *testing.T) {
	const maxLines, maxColumns = 10, 90
	page, err := os.ReadFile(filepath.Join("..", "..", "RATIONALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var section, entry string
	lines := 0
	seen := make(map[string]bool)
	end := func() {
		if entry != "" && (lines == 0 || lines > maxLines) {
			t.Errorf("%s: %q has %d lines, expected 1 to %d", section, entry, lines, maxLines)
		}
	}
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		isTable := strings.HasPrefix(line, "|")
		if !isTable && utf8.RuneCountInString(line) > maxColumns {
			t.Errorf("longer than %d columns: %s", maxColumns, line)
		}
		if title, ok := strings.CutPrefix(line, "## "); ok {
			end()
			section, entry = title, ""
			if seen[section] {
				t.Errorf("two sections are for %s", section)
			}
			seen[section] = true
			if section != "What a change touches" && section != "scripts and tests" && !exists(section) {
				t.Errorf("section %s: there is no such folder", section)
			}
		} else if title, ok := strings.CutPrefix(line, "### "); ok {
			end()
			entry, lines = title, 0
			if section == "" || seen[entry] {
				t.Errorf("%q is in no section, or there are two", entry)
			}
			seen[entry] = true
		} else if strings.TrimSpace(line) != "" {
			lines++
		}
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(line, -1) {
			if name = strings.Trim(name, "`"); !exists(name) {
				t.Errorf("%s: %q names %s, which does not exist", section, entry, name)
			}
		}
	}
	end()
	if len(seen) < 150 {
		t.Errorf("%d sections and entries, expected at least 150", len(seen))
	}
}

// exists reports whether a file, a folder or an identifier exists. It is true for names that may
// belong to other modules. Names of this module are "jit/gdb/symbol.go", "internal/filemap.Guard",
// "cfi.Rule".
func exists(name string) bool {
	if !regexp.MustCompile(`^[a-z]+(/[\w-]+)*(\.\w+)*$`).MatchString(name) {
		return true
	}
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, name)); err == nil {
		return true
	}
	path, identifier, _ := strings.Cut(name, ".")
	if top, _, isPath := strings.Cut(path, "/"); isPath {
		if _, err := os.Stat(filepath.Join(root, top)); err != nil {
			return true // of another module: database/sql
		}
	} else if !regexp.MustCompile(`[A-Z]`).MatchString(identifier) {
		return true // a word: perf, jit.go
	}
	var files []string
	for _, below := range []string{"", "*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(root, below, path, "*.go"))
		files = append(files, found...)
	}
	if len(files) == 0 && !strings.Contains(path, "/") {
		return true // of another module: sync.OnceValue
	}
	for _, part := range strings.Split(identifier, ".") {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(part) + `\b`)
		if !slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && part != "" && word.Match(text)
		}) {
			return false
		}
	}
	return true
}
