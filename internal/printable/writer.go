// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Writer writes text to a terminal, a pipe or a file. It escapes characters that are not
// printable, except newlines, and keeps the escape sequences that it was made with.
type Writer struct {
	to        io.Writer
	sequences []string // each begins with ESC
	partial   []byte   // the start of a character or a sequence that the next Write continues
	buf       []byte
}

// NewWriter returns a Writer to w. The sequences are those that the program itself writes,
// such as colours; each begins with ESC.
func NewWriter(w io.Writer, sequences ...string) *Writer { return &Writer{to: w, sequences: sequences} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if len(w.partial) == 0 && plain(p) == n {
		return w.to.Write(p)
	}
	if len(w.partial) > 0 {
		p = append(bytes.Clone(w.partial), p...)
	}
	w.buf, w.partial = w.append(w.buf[:0], p)
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return n, nil
}

// Flush writes the rest of text that ended within a character.
func (w *Writer) Flush() error {
	if len(w.partial) == 0 {
		return nil
	}
	_, err := w.to.Write(appendText(nil, string(w.partial), true))
	w.partial = nil
	return err
}

// append appends escaped text. It returns the end of the text separately if that is the
// start of a character or a sequence.
func (w *Writer) append(dst, p []byte) (_, partial []byte) {
	for len(p) > 0 {
		n := plain(p)
		dst = append(dst, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			break
		}
		size := 1
		if p[0] == '\x1b' {
			sequence, partial := w.sequence(p)
			if partial {
				return dst, bytes.Clone(p)
			}
			if sequence != "" {
				dst, p = append(dst, sequence...), p[len(sequence):]
				continue
			}
		} else if p[0] >= utf8.RuneSelf {
			if !utf8.FullRune(p) {
				return dst, bytes.Clone(p)
			}
			_, size = utf8.DecodeRune(p)
		}
		dst, p = appendEscape(dst, string(p[:size])), p[size:]
	}
	return dst, nil
}

// sequence returns the sequence that text begins with, or reports whether text is the start
// of one.
func (w *Writer) sequence(p []byte) (found string, partial bool) {
	for _, s := range w.sequences {
		if bytes.HasPrefix(p, []byte(s)) {
			return s, false
		}
		partial = partial || strings.HasPrefix(s, string(p))
	}
	return "", partial
}
