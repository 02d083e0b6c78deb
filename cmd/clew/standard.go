// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report"
)

// stdout and stderr are where Clew prints. Nothing else in the command uses os.Stdout and
// os.Stderr: names of functions, files and threads come from others, and could hold what a
// terminal obeys.
var (
	stdout = &stream{file: os.Stdout}
	stderr = &stream{file: os.Stderr}
)

// stream is standard output or error as a printer of text. It may be written to from
// several goroutines.
type stream struct {
	file *os.File

	mu   sync.Mutex
	text *printable.Writer // made with the first text

	failed atomic.Pointer[error] // of the first write that failed; raw writes do not hold mu
}

// Write prints text. A character that is not printable is escaped, except in the sequences
// of the palette.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text == nil {
		s.text = printable.NewWriter(rawStream{s}, s.palette().Sequences()...)
	}
	return s.text.Write(p)
}

// raw returns the stream for bytes that are not Clew's own text: a profile for another
// program, the output of the code that is debugged, the movements of the cursor.
func (s *stream) raw() io.Writer { return rawStream{s} }

type rawStream struct{ *stream }

func (r rawStream) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	if err != nil {
		r.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// end prints what is left, and returns the error of the first write that failed.
func (s *stream) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text != nil {
		_ = s.text.Flush() // which failed notes
	}
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// palette returns the colours for the stream: none where it is no terminal, or NO_COLOR
// is set.
func (s *stream) palette() report.Palette {
	if s != stdout && !s.isTerminal() {
		return report.Palette{}
	}
	return palette()
}

func (s *stream) isTerminal() bool { return term.IsTerminal(int(s.file.Fd())) }

// size returns the columns and rows of the terminal that the stream is, zero where it is
// none.
func (s *stream) size() (width, height int) {
	w, h, err := term.GetSize(int(s.file.Fd()))
	if err != nil {
		return 0, 0
	}
	return w, h
}
