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

// Writer writes text of any number of lines to a terminal, a pipe or a file, with what is
// not printable escaped. It passes on the sequences that it was made with.
type Writer struct {
	to        io.Writer
	sequences []string // each begins with ESC
	rest      []byte   // the beginning of a character or a sequence, whose end comes later
	buf       []byte
}

// NewWriter returns a Writer to w. Sequences are those that the program itself writes, the
// colours of its output: each begins with ESC.
func NewWriter(w io.Writer, sequences ...string) *Writer { return &Writer{to: w, sequences: sequences} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if len(w.rest) == 0 && plain(p) == n {
		return w.to.Write(p)
	}
	if len(w.rest) > 0 {
		p = append(bytes.Clone(w.rest), p...)
	}
	w.buf, w.rest = w.append(w.buf[:0], p)
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return n, nil
}

// Flush writes what is left of text that ended within a character.
func (w *Writer) Flush() error {
	if len(w.rest) == 0 {
		return nil
	}
	_, err := w.to.Write(appendText(nil, string(w.rest), true))
	w.rest = nil
	return err
}

// append appends text, but for an end that cannot be judged yet.
func (w *Writer) append(dst, p []byte) (_, rest []byte) {
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

// sequence returns the one that text begins with, or whether more text may make it one.
func (w *Writer) sequence(p []byte) (found string, partial bool) {
	for _, s := range w.sequences {
		if bytes.HasPrefix(p, []byte(s)) {
			return s, false
		}
		partial = partial || strings.HasPrefix(s, string(p))
	}
	return "", partial
}
