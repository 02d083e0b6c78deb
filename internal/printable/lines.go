// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import (
	"errors"
	"slices"
	"strings"
)

// Lines returns an error as text, one line for each error that [errors.Join] joined in it.
// It escapes all other characters that are not printable, as [Text] does, including the end
// of a line in a name: otherwise a name could imitate a line of Clew's. If the error has a
// method Lines, that method returns the lines.
func Lines(err error) []string {
	if own, ok := err.(interface{ Lines() []string }); ok {
		return own.Lines()
	}
	text := err.Error()
	if !strings.Contains(text, "\n") {
		return []string{Text(text)}
	}
	inner := wrapped(err)
	if isJoined(text, inner) {
		var lines []string
		for _, e := range inner {
			lines = append(lines, Lines(e)...)
		}
		return lines
	}
	if len(inner) == 1 {
		if lines, ok := startedLines(text, inner[0]); ok {
			return lines
		}
	}
	lines := []string{""}
	for _, e := range inner {
		before, after, ok := strings.Cut(text, e.Error())
		if !ok || !strings.Contains(e.Error(), "\n") {
			continue
		}
		last := len(lines) - 1
		lines[last] += Text(before)
		more := Lines(e)
		lines[last] += more[0]
		lines, text = append(lines, more[1:]...), after
	}
	lines[len(lines)-1] += Text(text)
	return lines
}

// wrapped returns the errors that an error wraps.
func wrapped(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.DeleteFunc(slices.Clone(several.Unwrap()), func(e error) bool { return e == nil })
	}
	if e := errors.Unwrap(err); e != nil {
		return []error{e}
	}
	return nil
}

// isJoined reports whether a text is the texts of the errors, separated by newlines.
func isJoined(text string, inner []error) bool {
	texts := make([]string, len(inner))
	for i, e := range inner {
		texts[i] = e.Error()
	}
	return len(inner) > 0 && text == strings.Join(texts, "\n")
}

// startedLines returns the lines of a text that repeats the text of an error with the same
// start, such as the name of a file, before each line.
func startedLines(text string, inner error) (lines []string, ok bool) {
	first, _, _ := strings.Cut(inner.Error(), "\n")
	start, _, ok := strings.Cut(text, first)
	if !ok || start == "" || text != start+strings.ReplaceAll(inner.Error(), "\n", "\n"+start) {
		return nil, false
	}
	for _, line := range Lines(inner) {
		lines = append(lines, Text(start)+line)
	}
	return lines, true
}
