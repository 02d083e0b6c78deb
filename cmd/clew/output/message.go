// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
)

// ReadError is an input that cannot be read. Its text says what to do.
type readError struct{ err error }

func (e readError) Error() string { return e.err.Error() }
func (e readError) Unwrap() error { return e.err }

// InputError returns err as a ReadError.
func InputError(err error) error { return readError{err} }

// InputErrorf returns a ReadError with a message that is formatted as by Errorf.
func InputErrorf(format string, args ...any) error { return readError{message(format, args...)} }

// Hint is an argument of a message whose ends of lines are kept. Other arguments are foreign text,
// and stay in one line.
type Hint string

// ownText is an error with a text that Clew wrote, so its ends of lines are kept.
type ownText struct {
	text string
	err  error
}

func (e *ownText) Error() string   { return e.text }
func (e *ownText) Unwrap() error   { return e.err }
func (e *ownText) Lines() []string { return strings.Split(e.text, "\n") }

// Text returns an error that wraps err and has a text of one or more lines.
func Text(text string, err error) error { return &ownText{text, err} }

// message is like fmt.Errorf, but escapes the ends of lines in arguments other than a Hint.
func message(format string, args ...any) error {
	return &ownText{fmt.Sprintf(strings.ReplaceAll(format, "%w", "%v"), inLine(args)...), fmt.Errorf(format, args...)}
}

// inLine returns arguments of a format, with the ends of lines in strings and errors escaped. The
// lines of joined errors are kept.
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

// Speaker is the beginning of each message: "clew" and the verb. Only main sets it.
var Speaker = "clew"

// Warn prints a message about something that does, or could, cost a part of the answer.
func Warn(format string, args ...any) {
	fmt.Fprintf(Stderr, Speaker+": "+format+"\n", inLine(args)...)
}
