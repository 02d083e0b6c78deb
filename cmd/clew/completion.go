// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"debug/elf"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/object"
)

// maxCompletions bounds how many names a shell is given: it looks at each.
const maxCompletions = 10000

// candidate is a word that completes a command line, and what it stands for.
type candidate struct{ word, meaning string }

// completing returns a completion of a command's flags and commands by the library, and of
// its other arguments by list. It is given the arguments before the word, and a flag that
// takes a value as the last of them.
func completing(list func(args []string) iter.Seq[candidate]) cli.ShellCompleteFunc {
	return func(ctx context.Context, c *cli.Command) {
		cli.DefaultCompleteWithFlags(ctx, c)
		n := 0
		for found := range list(c.Args().Slice()) {
			if !completable(found.word) {
				continue
			}
			if n++; n > maxCompletions {
				return
			}
			fmt.Fprintln(c.Root().Writer, strings.TrimSuffix(found.word+":"+found.meaning, ":"))
		}
	}
}

// completable reports whether a shell can be given a word. Bash expands the words that it
// chooses from, so that one with $(…) in it would run a command; others are cut at spaces
// and colons. Names come from files and processes that other people control.
func completable(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' || r == '+')
	})
}

// completeFunctions lists the functions of the file that is the first argument, where the
// place comes that is asked for, or after one of the flags.
func completeFunctions(flags ...string) cli.ShellCompleteFunc {
	return completing(func(args []string) iter.Seq[candidate] {
		wanted := len(args) == 1 && len(flags) == 0
		if n := len(args); n > 1 {
			wanted = wanted || slices.Contains(flags, args[n-1])
		}
		if !wanted {
			return func(func(candidate) bool) {}
		}
		return functionsOf(args[0])
	})
}

func functionsOf(path string) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		f, err := object.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		seen := make(map[string]bool)
		_ = object.Guard(func() error { // names that could be read
			for s := range f.Symbols() {
				if s.Type != elf.STT_FUNC || seen[s.Name] {
					continue
				}
				if seen[s.Name] = true; len(seen) > maxCompletions || !yield(candidate{word: s.Name}) {
					break
				}
			}
			return nil
		})
	}
}
