// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"errors"
	"fmt"
	"io"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
)

// Mode chooses between the two forms of readelf's output.
type Mode int

const (
	Rows Mode = iota // readelf -wF, --debug-dump=frames-interp
	Raw              // readelf -wf, --debug-dump=frames
)

// bufferSize is how much is printed at a time.
const bufferSize = 64 << 10

// maxFaults bounds the errors that a section can cause.
const maxFaults = 64

// printer prints sections to one writer.
type printer struct {
	w    io.Writer
	mode Mode
	buf  []byte
	err  error // of w; nothing is printed after it

	section *cfi.Section
	names   names
	table   rowState

	// The digits of the upper half of the last row's location.
	high       uint32
	highDigits uint64

	faults []error
	more   int // faults beyond maxFaults
}

func newPrinter(w io.Writer, mode Mode) *printer {
	fillSmall()
	return &printer{w: w, mode: mode, highDigits: hexDigits(0), buf: make([]byte, 0, bufferSize+bufferSize/8)}
}

// Section prints one section, with the heading that readelf gives it. It
// prints what can be read; the error joins what cannot, with its place, and an
// error of w, which ends the printing. The data of a section that comes from
// an object.File is read under object.Guard.
func Section(w io.Writer, s *cfi.Section, mode Mode) error {
	p := newPrinter(w, mode)
	p.print(s, "")
	return p.finish()
}

// print prints a section; file is the name of the file it was loaded from
// where the heading has to tell.
func (p *printer) print(s *cfi.Section, file string) {
	p.section = s
	p.names.set(s.Machine)
	p.heading(s.Name, file)
	terminated := false // the entry before was a terminator
	for e, err := range s.Entries() {
		if p.err != nil {
			return
		}
		switch {
		case e.Terminator():
			if !terminated {
				p.buf = append(appendOffset(append(p.buf, '\n'), e.Offset), " ZERO terminator\n\n"...)
			}
		case err != nil:
			if !terminated || !zero(s.Data[e.Offset:]) {
				p.fault(err)
			}
		default:
			if err := p.entry(e); err != nil {
				p.fault(err)
			}
		}
		terminated = e.Terminator()
	}
	p.buf = append(p.buf, '\n')
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (p *printer) heading(section, file string) {
	p.buf = append(append(p.buf, "Contents of the "...), printable.Text(section)...)
	p.buf = append(p.buf, " section"...)
	if file != "" {
		p.buf = append(append(p.buf, " (loaded from "...), printable.Text(file)...)
		p.buf = append(p.buf, ')')
	}
	p.buf = append(p.buf, ":\n\n"...)
	p.reserve()
}

// reserve hands the buffer to the writer when it is full. What is appended
// between two calls is small or bounded by the input.
func (p *printer) reserve() {
	if len(p.buf) >= bufferSize {
		p.flush()
	}
}

func (p *printer) flush() {
	if p.err == nil && len(p.buf) > 0 {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
}

// fault keeps an error about what was printed.
func (p *printer) fault(err error) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, err)
	} else {
		p.more++
	}
}

// finish writes what is left, and returns all errors.
func (p *printer) finish() error {
	p.flush()
	if p.more > 0 {
		p.faults = append(p.faults, fmt.Errorf("and %d more", p.more))
	}
	if p.err != nil {
		p.faults = append(p.faults, p.err)
	}
	return errors.Join(p.faults...)
}
