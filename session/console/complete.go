// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
)

// maxCandidates is how many words a completion offers at most.
const maxCandidates = 500

// Complete returns what the word before the cursor (an offset into line, in bytes)
// can become: start is where the word begins, and words are what may stand there
// instead, in the order of their letters. A word that ends in "(" or "/" is
// gone on with. It reads directories, for names of files.
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

// matching returns the names that begin with a prefix, in order, each once.
func matching(names []string, prefix string) []string {
	var found []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), maxCandidates)]
}

// completeArgument completes the last word of line, whose arguments begin at at.
func (c *Console) completeArgument(kind argument, line string, at int) (int, []string) {
	switch kind {
	case commandArgument:
		return at, matching(commandNames(commands()), line[at:])
	case fileArgument:
		return at, paths(line[at:])
	case locationArgument:
		if location, condition := cutCondition(line[at:]); condition == "" && !strings.HasSuffix(line, " if ") {
			_ = location
			word := strings.TrimPrefix(line[at:], "*")
			return len(line) - len(word), matching(append(c.functionNames(), c.fileNames()...), word)
		}
		return c.completeExpression(line, at)
	case callArgument:
		if !strings.Contains(line[at:], "(") {
			var names []string
			for _, n := range c.language.Functions() {
				names = append(names, n+"(")
			}
			return at, matching(names, line[at:])
		}
		return c.completeExpression(line, at)
	case registerArgument:
		word := at + strings.LastIndexByte(line[at:], ' ') + 1
		return word, matching(c.registerNames(""), line[word:])
	case expressionArgument, typeArgument, functionArgument:
		return c.completeExpression(line, at)
	}
	return len(line), nil
}

// completeExpression completes the name at the end of an expression.
func (c *Console) completeExpression(line string, at int) (int, []string) {
	start := len(line)
	for start > at && (line[start-1] == '_' || line[start-1] == '$' || line[start-1] >= '0' && line[start-1] <= '9' ||
		line[start-1] >= 'a' && line[start-1] <= 'z' || line[start-1] >= 'A' && line[start-1] <= 'Z') {
		start--
	}
	word := line[start:]
	if strings.HasPrefix(word, "$") {
		names := c.registerNames("$")
		for name := range c.values.Convenience {
			names = append(names, "$"+name)
		}
		return start, matching(append(names, "$pc", "$sp"), word)
	}
	return start, matching(c.variableNames(), word)
}

func (c *Console) registerNames(prefix string) []string {
	var names []string
	for _, r := range c.session.RegisterInfos() {
		names = append(names, prefix+r.Name)
	}
	return names
}

func (c *Console) functionNames() []string {
	var names []string
	for _, image := range c.session.Images() {
		for _, f := range image.Functions() {
			names = append(names, f.Name)
		}
	}
	return names
}

// fileNames are the source files, as far as functions begin in them.
func (c *Console) fileNames() []string {
	var names []string
	for _, image := range c.session.Images() {
		for _, f := range image.Functions() {
			if r := c.lineRange(image, f.Start); r.File != "" {
				names = append(names, filepath.Base(r.File)+":")
			}
		}
	}
	return names
}

// variableNames are what the selected frame sees, and functions.
func (c *Console) variableNames() []string {
	names := c.functionNames()
	var variables []*value.Variable
	if f := c.current(); f != nil {
		variables = append(f.Locals(), f.Globals()...)
	} else {
		for _, object := range c.values.Objects() {
			globals, _ := object.Info().Globals(c.firstAddress()) // none of another file
			variables = append(variables, globals...)
		}
	}
	for _, v := range variables {
		names = append(names, v.Name)
	}
	return names
}

func (c *Console) firstAddress() uint64 {
	for _, image := range c.session.Images() {
		if f := image.Functions(); len(f) > 0 && !image.IsHost() {
			return f[0].Start
		}
	}
	return 0
}

// paths are the files whose path begins with a text; directories end in a slash.
func paths(prefix string) []string {
	folder, base := filepath.Split(prefix)
	name := folder
	if name == "" {
		name = "."
	}
	entries, err := os.ReadDir(name)
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
