// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// Stdout and Stderr are the only users of os.Stdout and os.Stderr in the command. They escape text,
// because names of functions, files and threads can contain control sequences.
var (
	Stdout = &Stream{File: os.Stdout}
	Stderr = &Stream{File: os.Stderr}
)

// Stream is standard output or standard error. Write, Raw and Close may be called from several
// goroutines.
type Stream struct {
	File *os.File // for a child process; text goes through Write

	mu   sync.Mutex
	text *printable.Writer // nil before the first Write

	failed atomic.Pointer[error] // the first error of a write; raw writes do not hold mu
}

// Write prints text. It escapes characters that are not printable, except in the sequences of the
// palette.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text == nil {
		s.text = printable.NewWriter(rawStream{s}, s.Palette().Sequences()...)
	}
	return s.text.Write(p)
}

// Raw returns a writer that escapes nothing. It is for output that is not text of Clew: a profile
// for another program, the output of debugged code, cursor movements.
func (s *Stream) Raw() io.Writer { return rawStream{s} }

type rawStream struct{ *Stream }

func (r rawStream) Write(p []byte) (int, error) {
	n, err := r.File.Write(p)
	if err != nil {
		r.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Close writes the buffered text, and returns the error of the first write that failed. It does
// not close the file.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text != nil {
		_ = s.text.Flush() // failed has the error
	}
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// Palette returns the colours for the stream: none if it is not a terminal, or if NO_COLOR is set.
func (s *Stream) Palette() style.Palette {
	if color.NoColor || s != Stdout && !s.IsTerminal() { // NoColor is set if Stdout is not a terminal
		return style.Palette{}
	}
	return style.Colors()
}

// IsTerminal reports whether the stream is a terminal.
func (s *Stream) IsTerminal() bool { return term.IsTerminal(int(s.File.Fd())) }

// Size returns the columns and rows of the terminal, zero if the stream is not a terminal.
func (s *Stream) Size() (width, height int) {
	w, h, err := term.GetSize(int(s.File.Fd()))
	if err != nil {
		return 0, 0
	}
	return w, h
}

// UTF8 reports whether text in the user's locale is UTF-8 (POSIX, Base Definitions §8.2,
// Internationalization Variables).
func UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			_, codeset, _ := strings.Cut(locale, ".")
			codeset, _, _ = strings.Cut(codeset, "@")
			return strings.EqualFold(strings.ReplaceAll(codeset, "-", ""), "utf8")
		}
	}
	return false
}
