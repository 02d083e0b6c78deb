// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cmd/clew/manual"
)

// The pages in docs are equal to the output of clew. To update them: go test -run TestManualPages
// -update.
func TestManualPages(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	want := make(map[string][]byte)
	page := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		want[name] = b.Bytes()
	}
	var index strings.Builder
	index.WriteString("# Reference\n\nEvery command and topic of clew's manual. These pages are written by\n`go test ./cmd/clew -run TestManualPages -update`.\n\n")
	for _, p := range pages(newRoot(nil)) {
		if all := len(allTopics()); p.Name != rootName && len(p.Topics) >= all {
			t.Errorf("%s refers to all %d topics", p.Name, all)
		}
		page(filepath.Join("man", p.FileName()), p.WriteMan)
		page(filepath.Join("reference", p.MarkdownName()), p.WriteMarkdown)
		index.WriteString("- [" + p.Name + "](" + p.MarkdownName() + "): " + p.Summary + "\n")
	}
	want[filepath.Join("reference", "README.md")] = []byte(index.String())
	if *update {
		for name, text := range want {
			path := filepath.Join(docs, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || !bytes.Equal(have, text) {
			t.Errorf("docs/%s differs from the output of clew (%v): run go test ./cmd/clew -run TestManualPages -update", name, err)
		}
	}
	for _, folder := range []string{"man", "reference"} {
		entries, err := os.ReadDir(filepath.Join(docs, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, ok := want[filepath.Join(folder, e.Name())]; !ok {
				t.Errorf("docs/%s/%s belongs to no page", folder, e.Name())
			}
		}
	}
}

// man prints each page without a warning, with every flag and every verbatim line.
func TestManReadsPages(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("skipped: groff is not installed")
	}
	for _, p := range pages(newRoot(nil)) {
		var source bytes.Buffer
		if err := p.WriteMan(&source); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("groff", "-k", "-man", "-Tutf8", "-ww", "-rLL=200n", "-P-cbou")
		cmd.Stdin = &source
		var warnings bytes.Buffer
		cmd.Stderr = &warnings
		out, err := cmd.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v\n%s", p.FileName(), err, warnings.Bytes())
		}
		text := string(out)
		for line := range strings.SplitSeq(p.Description+"\n"+p.Examples, "\n") {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(line, "  ") && !strings.Contains(text, trimmed) {
				t.Errorf("%s lacks the line %q", p.FileName(), trimmed)
			}
		}
		for _, f := range p.Flags {
			if !strings.Contains(text, "--"+f.Long) {
				t.Errorf("%s lacks --%s", p.FileName(), f.Long)
			}
		}
	}
}

// The first screen of a command fits on a terminal, with at most five examples. The whole
// page has all flags.
func TestHelpStartsSmall(t *testing.T) {
	for _, p := range pages(newRoot(nil)) {
		var short, whole bytes.Buffer
		if err := p.WriteShort(&short); err != nil {
			t.Fatal(err)
		}
		if err := p.WriteWhole(&whole); err != nil {
			t.Fatal(err)
		}
		if p.IsTopic() {
			if p.Summary == "" || p.Description == "" {
				t.Errorf("the topic %s is empty", p.Name)
			}
			continue
		}
		if n := bytes.Count(short.Bytes(), []byte("\n")); n > 45 {
			t.Errorf("%s --help has %d lines", p.Name, n)
		}
		if n := len(strings.Split(p.Examples, "\n")); n > 5 {
			t.Errorf("%s --help has %d lines of examples", p.Name, n)
		}
		if p.Summary == "" || p.Description == "" || p.Examples == "" {
			t.Errorf("%s: summary %q, description %q, examples %q", p.Name, p.Summary, p.Description, p.Examples)
		}
		for _, f := range p.Flags {
			if !strings.Contains(whole.String(), "--"+f.Long) {
				t.Errorf("clew help %s lacks --%s", p.Name, f.Long)
			}
		}
	}
	for _, want := range []string{"frames", "values", "go", "generated", "debuginfod", "json", "exit-codes"} {
		if !slices.ContainsFunc(allTopics(), func(p *manual.Page) bool { return p.Name == want }) {
			t.Errorf("no topic %s", want)
		}
	}
}

// The commands in the manual's texts exist.
func TestManualNamesCommands(t *testing.T) {
	root := newRoot(nil)
	command := regexp.MustCompile(`clew ((?:help )?[a-z]+)`)
	for _, p := range pages(root) {
		for _, m := range command.FindAllStringSubmatch(p.Description+"\n"+p.Examples+"\n"+p.Usage, -1) {
			if _, err := findPage(root, strings.Fields(strings.TrimPrefix(m[1], "help "))); err != nil {
				t.Errorf("%s: %s: %v", p.Name, m[0], err)
			}
		}
	}
}
