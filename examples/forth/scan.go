// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"fmt"
	"strings"
)

// SyntaxError is an error in a source file.
type SyntaxError struct {
	File         string
	Line, Column int // from 1; the column counts bytes
	Message      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// position is a place in a source file; line and column count from 1.
type position struct{ line, column int32 }

// token is a word of the source: text between blanks.
type token struct {
	text string
	at   position
}

// scanner splits a source into tokens.
type scanner struct {
	source       string
	next         int // offset
	line, column int32
}

func newScanner(source []byte) scanner { return scanner{source: string(source), line: 1, column: 1} }

func blank(c byte) bool { return c <= ' ' }

func (s *scanner) advance() {
	c := s.source[s.next]
	s.next++
	s.column++
	if c == '\n' {
		s.line++
		s.column = 1
	}
}

// token returns the next word, and false at the end of the source.
func (s *scanner) token() (token, bool) {
	for s.next < len(s.source) && blank(s.source[s.next]) {
		s.advance()
	}
	t := token{at: position{s.line, s.column}}
	start := s.next
	for s.next < len(s.source) && !blank(s.source[s.next]) {
		s.advance()
	}
	t.text = s.source[start:s.next]
	return t, t.text != ""
}

// until returns the text up to a delimiter and skips both. It returns false if the delimiter is not in
// the line, or with acrossLines in the source.
func (s *scanner) until(delimiter byte, acrossLines bool) (string, bool) {
	if s.next < len(s.source) && s.source[s.next] != '\n' {
		s.advance() // the blank before the text
	}
	start := s.next
	for s.next < len(s.source) {
		c := s.source[s.next]
		if c == '\n' && !acrossLines && delimiter != '\n' {
			break
		}
		s.advance()
		if c == delimiter {
			return s.source[start : s.next-1], true
		}
	}
	return s.source[start:s.next], delimiter == '\n'
}

// nameError returns the reason why a word cannot have a name, or "".
func nameError(name string) string {
	if len(name) > 100 {
		return "a name of more than 100 bytes"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' }) {
		return fmt.Sprintf("invalid name %q", name)
	}
	return ""
}
