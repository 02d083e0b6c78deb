// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"debug/elf"
	"io"

	"github.com/clewdev/clew/object"
)

// File prints what readelf does for one file: every section called .eh_frame
// or .debug_frame (.zdebug_frame), in the order of the section table, and
// behind them those of the separate debug files, as [object.Open] and
// [SeparateFiles] returned them. Without separate files the headings do not
// name the file, as with readelf's option -wN.
//
// It prints what can be read; the error joins what cannot, with its place, and
// an error of w, which ends the printing.
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
		// Neither is a warning of readelf's: they are part of its output.
		if s.Size == 0 {
			p.buf = append(append(p.buf, "\nSection '"...), s.Name...)
			p.buf = append(p.buf, "' has no debugging data.\n"...)
			continue
		}
		if s.Type == elf.SHT_NOBITS {
			p.buf = append(append(p.buf, "section '"...), s.Name...)
			p.buf = append(p.buf, "' has the NOBITS type - its contents are unreliable.\n"...)
			continue
		}
		section, err := f.CFISection(i)
		if err != nil {
			p.fault(err)
		}
		if section == nil || p.err != nil {
			continue
		}
		section.Unrelocated = nil // readelf prints what the file has, and warns
		err = object.Guard(func() error {
			p.print(section, name)
			return nil
		})
		if err != nil {
			p.fault(err)
		}
	}
}
