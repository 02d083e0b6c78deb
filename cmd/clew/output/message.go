// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
)

type readError struct{ err error }

func (e readError) Error() string { return e.err.Error() }
func (e readError) Unwrap() error { return e.err }

// InputError returns err as the error of an input. It ends the command with ExitUsage, without a
// hint at --help.
func InputError(err error) error { return readError{err} }

// InputErrorf is InputError with a message that is formatted as by fmt.Errorf.
func InputErrorf(format string, args ...any) error { return readError{message(format, args...)} }

// Hint is an argument of a message that keeps its newlines. Other arguments are foreign text, and
// their newlines are escaped.
type Hint string

// ownText is an error with a text of Clew, which keeps its newlines.
type ownText struct {
	text string
	err  error
}

func (e *ownText) Error() string   { return e.text }
func (e *ownText) Unwrap() error   { return e.err }
func (e *ownText) Lines() []string { return strings.Split(e.text, "\n") }

// message is like fmt.Errorf, but escapes newlines in arguments other than a Hint.
func message(format string, args ...any) error {
	return &ownText{fmt.Sprintf(strings.ReplaceAll(format, "%w", "%v"), inLine(args)...), fmt.Errorf(format, args...)}
}

// inLine escapes the newlines in the strings and errors among the arguments of a format. Joined
// errors keep one line each.
func inLine(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = printable.Text(arg)
		case error:
			args[i] = strings.Join(printable.Lines(arg), "\n")
		}
	}
	return args
}

// Command is the prefix of messages: "clew" and the verb. Only main sets it.
var Command = "clew"

// Warn prints a message about a problem that can make the answer partial.
func Warn(format string, args ...any) {
	fmt.Fprintf(Stderr, Command+": "+format+"\n", inLine(args)...)
}

// Exit codes of the command.
const (
	exitFine  = 0
	ExitNo    = 1 // the answer is no, or is partial
	ExitUsage = 2 // the command line is wrong, the input cannot be read, or the output cannot be written
)

// partialAnswer is the error for ExitNo. Every other error of a verb is about its usage or input.
type partialAnswer struct{ err error }

func (e partialAnswer) Error() string { return e.err.Error() }
func (e partialAnswer) Unwrap() error { return e.err }

// Partial returns err as an error that ends the command with ExitNo.
func Partial(err error) error { return partialAnswer{err} }

// Partialf is Partial with a message that is formatted as by fmt.Errorf.
func Partialf(format string, args ...any) error { return partialAnswer{message(format, args...)} }

// Status is the exit code of a command that has printed its messages already.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// ExitCode prints the message of an error, and returns the exit code for it.
func ExitCode(err error) int {
	var status Status
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &status):
		return int(status)
	}
	Warn("%v", err)
	var write *fs.PathError
	if errors.As(err, &write) && write.Op == "write" {
		return ExitUsage
	}
	var answer partialAnswer
	if errors.As(err, &answer) {
		return ExitNo
	}
	var input readError
	switch {
	case errors.As(err, &input):
	case strings.Contains(Command, " "):
		fmt.Fprintf(Stderr, "Run '%s --help' for usage.\n", Command)
	default:
		fmt.Fprintf(Stderr, "Run '%s help' for a list of the commands.\n", Command)
	}
	return ExitUsage
}
