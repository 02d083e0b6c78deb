// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clewdev/clew/session/frontend"
)

const maxCandidates = 500 // words that a completion offers

// Complete returns the words that can replace the word before the cursor, sorted, and the
// offset of that word. Offsets are in bytes. A word that ends in "(" or "/" can be continued.
// For names of files Complete reads directories.
func (c *Console) Complete(line string, cursor int) (start int, words []string) {
	if cursor < 0 || cursor > len(line) || c.block != nil {
		return cursor, nil
	}
	line = line[:cursor]
	head := strings.TrimLeft(line, " \t")
	lead := len(line) - len(head)
	name, _ := splitCommand(head)
	if len(name) == len(head) {
		return lead, matching(commandNames(commands()), name)
	}
	cmd, err := find(commands(), name, "")
	if err != nil {
		return cursor, nil
	}
	at := lead + len(name)
	at += spaces(line[at:])
	if strings.HasPrefix(line[at:], "/") { // a format
		end := strings.IndexByte(line[at:], ' ')
		if end < 0 {
			return cursor, nil
		}
		at += end
		at += spaces(line[at:])
	}
	if len(cmd.below) > 0 {
		word := line[at:]
		name, _ := splitCommand(word)
		if len(name) == len(word) {
			return at, matching(commandNames(cmd.below), word)
		}
		if cmd, err = find(cmd.below, name, ""); err != nil {
			return cursor, nil
		}
		at += len(name)
		at += spaces(line[at:])
	}
	return c.completeArgument(cmd.argument, line, at)
}

func spaces(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func commandNames(list []*command) []string {
	var names []string
	for _, cmd := range list {
		names = append(names, cmd.name)
	}
	return names
}

// matching returns the names with a prefix, sorted and without duplicates. It reuses names.
func matching(names []string, prefix string) []string {
	found := slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) })
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), maxCandidates)]
}

// completeArgument completes the last word of a line. The arguments start at offset at.
func (c *Console) completeArgument(kind argument, line string, at int) (int, []string) {
	switch kind {
	case noArgument:
		return len(line), nil
	case commandArgument:
		return at, matching(commandNames(commands()), line[at:])
	case fileArgument:
		return at, paths(line[at:])
	case locationArgument:
		if _, condition := CutCondition(line[at:]); condition == "" && !strings.HasSuffix(line, " if ") {
			word := strings.TrimPrefix(line[at:], "*")
			return len(line) - len(word), matching(c.locationNames(), word)
		}
	case callArgument:
		if !strings.Contains(line[at:], "(") {
			names := slices.Clone(c.language.Functions())
			for i := range names {
				names[i] += "("
			}
			return at, matching(names, line[at:])
		}
	case registerArgument:
		word := at + strings.LastIndexByte(line[at:], ' ') + 1
		var names []string
		for _, r := range c.session.RegisterInfos() {
			names = append(names, r.Name)
		}
		return word, matching(names, line[word:])
	}
	start := at + frontend.NameStart(line[at:])
	var names []string
	for _, n := range c.values.Names(c.current(), line[start:]) {
		names = append(names, n.Text)
	}
	return start, matching(names, line[start:])
}

func (c *Console) locationNames() []string {
	var names []string
	for f := range frontend.Functions(c.session) {
		names = append(names, f.Name)
		if r := frontend.Row(c.session, f.Start); r.File != "" {
			names = append(names, filepath.Base(r.File)+":")
		}
	}
	return names
}

// paths returns the paths of files with a prefix. Those of directories end in a slash.
func paths(prefix string) []string {
	folder, base := filepath.Split(prefix)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) && (base != "" || !strings.HasPrefix(e.Name(), ".")) {
			path := folder + e.Name()
			if e.IsDir() {
				path += "/"
			}
			found = append(found, path)
		}
	}
	return found[:min(len(found), maxCandidates)]
}
