// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"fmt"
	"strings"
)

// SyntaxError is what is wrong with a source file, and where.
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

// token is a word of the source: what stands between blanks.
type token struct {
	text string
	at   position
}

// scanner takes a source apart.
type scanner struct {
	source       string
	next         int // offset
	line, column int32
}

func newScanner(source []byte) scanner { return scanner{source: string(source), line: 1, column: 1} }

func blank(c byte) bool { return c <= ' ' }

func (s *scanner) advance() byte {
	c := s.source[s.next]
	s.next++
	s.column++
	if c == '\n' {
		s.line++
		s.column = 1
	}
	return c
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

// until returns the text up to a delimiter and passes both; false where the
// delimiter does not come before the end of the line, or of the source.
func (s *scanner) until(delimiter byte, acrossLines bool) (string, bool) {
	if s.next < len(s.source) && s.source[s.next] != '\n' {
		s.advance() // the blank behind the word that wants the text
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

// nameError says why a word cannot have a name, or nothing.
func nameError(name string) string {
	if len(name) > 100 {
		return "a name of more than 100 bytes"
	}
	if strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' }) >= 0 {
		return fmt.Sprintf("the name %q", name)
	}
	return ""
}
