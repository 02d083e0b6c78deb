// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
)

// Mode selects a form of readelf's output.
type Mode int

const (
	Rows Mode = iota // readelf -wF, --debug-dump=frames-interp
	Raw              // readelf -wf, --debug-dump=frames
)

const (
	bufferSize = 64 << 10 // bytes of output that are buffered
	maxFaults  = 64       // errors that are returned
)

// printer prints sections to one writer.
type printer struct {
	w    io.Writer
	mode Mode
	buf  []byte
	err  error // of w; it stops the output

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

// Section prints one section with readelf's heading. It prints the readable entries. The error
// joins the errors of the others, with their places, and an error of w, which stops the output.
// If the section belongs to an [object.File], call Section under [object.Guard].
func Section(w io.Writer, s *cfi.Section, mode Mode) error {
	p := newPrinter(w, mode)
	p.print(s, "")
	return p.finish()
}

// print prints a section. If file is not empty, the heading contains it as the section's file.
func (p *printer) print(s *cfi.Section, file string) {
	p.section = s
	p.names.set(s.Machine)
	p.heading(s.Name, file)
	terminated := false // the previous entry was a terminator
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
			// Zero bytes at the end, which are too few for another terminator, are padding.
			if padding := len(bytes.Trim(s.Data[e.Offset:], "\x00")) == 0; !terminated || !padding {
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

func (p *printer) heading(section, file string) {
	p.buf = fmt.Appendf(p.buf, "Contents of the %s section", printable.Text(section))
	if file != "" {
		p.buf = fmt.Appendf(p.buf, " (loaded from %s)", printable.Text(file))
	}
	p.buf = append(p.buf, ":\n\n"...)
	p.reserve()
}

// reserve writes the buffer when it is full. The text that is appended between two calls is
// small or limited by the input.
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

// fault records an error of the input.
func (p *printer) fault(err error) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, err)
	} else {
		p.more++
	}
}

// finish writes the buffer and returns all errors.
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

// File prints the output of readelf for one file: every section called .eh_frame or
// .debug_frame (.zdebug_frame) in the order of the section table, and then those of the
// separate debug files, as [SeparateFiles] returns them. Without separate files the headings
// do not contain the file, as with readelf's option -wN.
//
// File prints the readable entries. The error joins the errors of the others, with their
// places, and an error of w, which stops the output.
func File(w io.Writer, f *object.File, separate []*object.File, mode Mode) error {
	p := newPrinter(w, mode)
	if len(separate) == 0 {
		p.file(f, "")
	} else {
		p.file(f, f.Name())
	}
	for _, d := range separate {
		p.file(d, d.Name())
	}
	return p.finish()
}

func (p *printer) file(f *object.File, name string) {
	for i, s := range f.Sections() {
		switch s.Name {
		case ".eh_frame", ".debug_frame", ".zdebug_frame":
		default:
			continue
		}
		// readelf prints these two messages to standard output.
		if s.Size == 0 {
			p.buf = fmt.Appendf(p.buf, "\nSection '%s' has no debugging data.\n", s.Name)
			continue
		}
		if s.Type == elf.SHT_NOBITS {
			p.buf = fmt.Appendf(p.buf, "section '%s' has the NOBITS type - its contents are unreliable.\n", s.Name)
			continue
		}
		section, err := f.CFISection(i)
		if err != nil {
			p.fault(err)
		}
		if section == nil || p.err != nil {
			continue
		}
		section.Unrelocated = nil // readelf prints the unrelocated bytes, and warns
		err = object.Guard(func() error {
			p.print(section, name)
			return nil
		})
		if err != nil {
			p.fault(err)
		}
	}
}
