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

// maxCompletions bounds the names for a shell, which looks at each.
const maxCompletions = 10000

// candidate is a word that completes a command line, and its meaning.
type candidate struct{ word, meaning string }

// completing returns a completion of flags and subcommands by the library, and of other
// arguments by list. list gets the arguments before the word. A flag that takes a value is the
// last of them.
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

// completable reports whether a word is safe as a completion. Bash expands the words that it
// chooses from, so a word with $(…) would run a command. Shells cut words at spaces and colons.
// The names come from files and processes of other users.
func completable(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' || r == '+')
	})
}

// completeFunctions lists the functions of the file that is the first argument. It applies to the
// second argument, and to the values of flags.
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
		_ = object.Guard(func() error { // without the names that cannot be read
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
