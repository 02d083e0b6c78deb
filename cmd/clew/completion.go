// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/object"
)

const maxCompletions = 10000 // names for a shell, which processes each

// bashWords replaces a function of the library's script, which fails in a bash without the package
// bash-completion. Bash's own words differ only at = and :, which no word of clew needs.
const bashWords = `
__clew_init_completion() {
  if declare -F _comp_initialize >/dev/null; then
    _comp_initialize "$@"
  elif declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref "$@" cur prev words cword
  fi
  # Otherwise the caller's words are those of bash.
}
`

// setUpCompletion gives the library's command completion the text of the topic, and adds bashWords
// to its script for bash.
func setUpCompletion(completion *cli.Command) {
	for _, topic := range manual.Topics() {
		if topic.Name == completion.Name {
			completion.Description = topic.Description
		}
	}
	completion.UsageText = "clew completion SHELL"
	bash := completion.Command("bash")
	script := bash.Action
	bash.Action = func(ctx context.Context, c *cli.Command) error {
		if err := script(ctx, c); err != nil {
			return err
		}
		_, err := io.WriteString(c.Root().Writer, bashWords)
		return err
	}
}

// candidate is a word that completes a command line, and its description.
type candidate struct{ word, meaning string }

// completing returns a completion function. The library completes flags and subcommands, list
// other arguments. list gets the arguments before the word, including a flag that takes a value.
func completing(list func(args []string) []candidate) cli.ShellCompleteFunc {
	return func(ctx context.Context, c *cli.Command) {
		cli.DefaultCompleteWithFlags(ctx, c)
		all := slices.DeleteFunc(list(c.Args().Slice()), func(c candidate) bool { return !completable(c.word) })
		for _, found := range all[:min(len(all), maxCompletions)] {
			fmt.Fprintln(c.Root().Writer, strings.TrimSuffix(found.word+":"+found.meaning, ":"))
		}
	}
}

// completable reports whether a word is safe as a completion. Bash expands the words, so a word
// with $(…) would run a command. Shells split words at spaces and colons. The names come from files
// and processes of other users.
func completable(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' || r == '+')
	})
}

// completeFunctions returns a completion with the functions of the file that is the first argument.
// It completes the values of flags, or without flags the second argument.
func completeFunctions(flags ...string) cli.ShellCompleteFunc {
	return completing(func(args []string) []candidate {
		if n := len(args); n == 1 && len(flags) == 0 || n > 1 && slices.Contains(flags, args[n-1]) {
			return functionsOf(args[0])
		}
		return nil
	})
}

func functionsOf(path string) (list []candidate) {
	f, err := object.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	seen := make(map[string]bool)
	_ = object.Guard(func() error { // names that cannot be read are omitted
		for s := range f.Symbols() {
			if s.Type == elf.STT_FUNC && !seen[s.Name] && completable(s.Name) && len(seen) < maxCompletions {
				seen[s.Name] = true
				list = append(list, candidate{word: s.Name})
			}
		}
		return nil
	})
	return list
}
