// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What the command's exit code means.
const (
	exitFine  = 0
	exitNo    = 1 // the answer is no, or only a part of it could be given
	exitUsage = 2 // the question makes no sense, or its subject cannot be read, or the answer not written
)

// noError is an answer that is no, or partial. Every other error of a verb is
// one of usage or input.
type noError struct{ error }

func (e noError) Unwrap() error { return e.error }

// no returns an error that ends the command with exitNo.
func no(format string, args ...any) error { return noError{fmt.Errorf(format, args...)} }

// status is the exit code of a command that has said all it had to say.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

const rootHelp = `Clew finds the way back through the frames of native code.

It reads the call frame information (unwind tables) of ELF files of any
machine, says what they say in a way people and programs can read, and prints
the stacks of live processes, which it stops for about a millisecond.`

const exitHelp = `Exit codes: 0 all is well, 1 the answer is no or only partial, 2 wrong usage
or unreadable input.`

// newRoot puts the verbs together.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "clew",
		Short: "Read unwind tables, print stacks",
		Long:  rootHelp + "\n\n" + exitHelp,
		Example: `  clew table /bin/ls                  the unwind table of every function
  clew table a.out --func main        of one
  clew at a.out main+0x27             the rule at one address, in words
  clew stack 4711                     the stacks of a live process
  clew demo                           see it at work`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		root.Version = info.Main.Version
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		tableCommand(),
		atCommand(),
		stackCommand(),
		demoCommand(),
	)
	return root
}

// run executes the command line and returns the exit code.
func run(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	command, err := root.ExecuteC()
	var said status
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &said):
		return int(said)
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", command.CommandPath(), err)
	var write *fs.PathError
	if errors.As(err, &write) && write.Op == "write" {
		return exitUsage
	}
	var answer noError
	if errors.As(err, &answer) {
		return exitNo
	}
	var input inputError
	if !errors.As(err, &input) {
		fmt.Fprintf(os.Stderr, "Run '%s --help' for what it takes.\n", command.CommandPath())
	}
	return exitUsage
}
