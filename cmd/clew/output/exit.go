// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"errors"
	"fmt"
	"io/fs"
)

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
	if !errors.As(err, &input) {
		fmt.Fprintf(Stderr, "Run '%s --help' for usage.\n", Command)
	}
	return ExitUsage
}
