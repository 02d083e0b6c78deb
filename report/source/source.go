// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/table"
)

// Format is a language that tables are printed in.
type Format uint8

const (
	Go  Format = iota // calls of cfi.Builder
	C                 // arrays of bytes: sections of call frame information
	Asm               // directives of the GNU assembler
)

var formats = [...]string{Go: "go", C: "c", Asm: "asm"}

// String returns the format's name: "go", "c", "asm".
func (f Format) String() string {
	if int(f) < len(formats) {
		return formats[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat returns the format with a name.
func ParseFormat(name string) (Format, bool) {
	i := slices.Index(formats[:], name)
	return Format(max(i, 0)), i >= 0
}

// Write prints the functions of a listing as one source file. Its first line names the command
// that prints it: "clew table". file, which may be nil, is the
// file of the listing; its instructions become comments. The other parameters and results are
// those of [table.Listing.Write]. Faults in the summary are functions that are malformed or
// that the format cannot express.
func Write(w io.Writer, format Format, command string, list *table.Listing, file *object.File, progress func(done int)) (table.Summary, error) {
	var names *identifiers
	var header printer
	if err := object.Guard(func() error {
		names = newIdentifiers(format, list)
		switch {
		case names.machine != nil:
		case file != nil:
			names.machine = file.Machine()
		default: // for the comment in the header
			names.machine = &arch.Machine{Name: "of no machine"}
		}
		header = printer{format: format, command: command, file: file, names: names}
		header.header()
		return nil
	}); err != nil {
		return table.Summary{}, err
	}
	if _, err := w.Write(header.out.Bytes()); err != nil {
		return table.Summary{}, err
	}
	return list.Write(w, func() table.Printer {
		return &printer{format: format, file: file, names: names}
	}, progress)
}

// printer prints each function to out first. It discards out if the format cannot express the
// function.
type printer struct {
	format      Format
	command     string       // in the header
	file        *object.File // or nil
	names       *identifiers
	out         bytes.Buffer
	interpreter cfi.Interpreter
}

// function is a function that is being printed.
type function struct {
	*table.Function
	*stepTable
	name       string // for comments
	identifier string
	code       []table.CodeLine // not yet printed
}

// Limits of the instructions of an FDE, in bytes. Their text is fifty times as large. The
// largest known FDE has 22171 bytes (qemu-hexagon).
const (
	maxProgram   = 1 << 16 // larger ones are not printed
	smallProgram = 1 << 12 // larger ones are printed one after the other
)

var large sync.Mutex

// Function prints an FDE. See [table.Printer] for the errors.
func (p *printer) Function(w io.Writer, f *table.Function) (fault, err error) {
	if len(f.FDE.Instructions) > smallProgram {
		large.Lock()
		defer large.Unlock()
	}
	p.out.Reset()
	p.out.WriteByte('\n')
	if fault = p.function(f); fault != nil {
		p.out.Reset()
		p.out.WriteByte('\n')
		p.comment("%s is left out: %s", f.Name(), printable.Text(fault.Error()))
	}
	_, err = w.Write(p.out.Bytes())
	if p.out.Cap() > maxKept {
		p.out = bytes.Buffer{}
	}
	return fault, err
}

// maxKept is the largest capacity of a buffer that is reused, in bytes.
const maxKept = 1 << 20

func (p *printer) function(rf *table.Function) (err error) {
	if n := len(rf.FDE.Instructions); n > maxProgram {
		return fmt.Errorf("%d bytes of call frame instructions, expected at most %d", n, maxProgram)
	}
	f := &function{Function: rf, name: rf.Name(), identifier: p.names.of(rf)}
	if f.stepTable, err = newStepTable(&p.interpreter, rf.FDE); err != nil {
		return err
	}
	if f.size == 0 {
		p.comment("%s covers no code.", f.name)
		return nil
	}
	if p.file != nil {
		f.code = table.Instructions(rf, p.file)
	}
	switch p.format {
	case Go:
		return p.golang(f)
	case C:
		return p.array(f)
	default:
		return p.gas(f)
	}
}

// CIE prints nothing, because a CIE is printed with its functions.
func (p *printer) CIE(io.Writer, *cfi.CIE) (fault, err error) { return nil, nil }

// Terminator prints nothing.
func (p *printer) Terminator(io.Writer, *cfi.Section, uint64) error { return nil }

// Fault prints the error of an entry.
func (p *printer) Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error {
	p.out.Reset()
	p.out.WriteByte('\n')
	p.comment("The entry at %s+%#x is malformed: %s", printable.Text(s.Name), offset, printable.Text(fault.Error()))
	_, err := w.Write(p.out.Bytes())
	return err
}

// comment prints a line with a comment. Its text must not contain line feeds: text from the
// file must pass printable.Text.
func (p *printer) comment(format string, args ...any) {
	p.indented("", format, args...)
}

func (p *printer) indented(indent, format string, args ...any) {
	p.out.WriteString(indent)
	p.out.WriteString(p.remark(fmt.Sprintf(format, args...)))
	p.out.WriteByte('\n')
}

// remark returns a text as a comment.
func (p *printer) remark(text string) string {
	switch p.format {
	case Go:
		return "// " + text
	case C:
		return "/* " + withoutMarks.Replace(text) + " */"
	}
	return gasOf(p.names.machine).Comment + " " + text
}

// withoutMarks breaks the delimiters of C comments.
var withoutMarks = strings.NewReplacer("*/", "* /", "/*", "/ *")

// printf prints code.
func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

// from returns the origin of the tables: "f2c (x86-64)".
func (p *printer) from() string {
	name := "code"
	if p.file != nil {
		name = printable.Text(filepath.Base(p.file.Name()))
	}
	return name + " (" + p.names.machine.Name + ")"
}

func (p *printer) header() {
	switch p.format {
	case Go:
		p.goHeader()
	case C:
		p.arrayHeader()
	default:
		p.gasHeader()
	}
}

// unlinked reports whether addresses in the code are not final.
func (p *printer) unlinked() bool { return p.file != nil && p.file.Type() == elf.ET_REL }

// where identifies the entry of a function.
func (f *function) where() string {
	return fmt.Sprintf("%s FDE %#x", printable.Text(f.FDE.CIE.Section.Name), f.FDE.Offset)
}

// codeBefore removes the instructions before an offset of the function from f.code, and
// returns them.
func (f *function) codeBefore(offset uint64) []table.CodeLine {
	n := 0
	for n < len(f.code) && f.code[n].Address-f.FDE.Start < offset {
		n++
	}
	lines := f.code[:n]
	f.code = f.code[n:]
	return lines
}

// leftover is a property of a function that its author must add.
type leftover struct {
	what      string // "has a personality routine, at 0x1030"
	fields    string // of Clew's CIE and program
	directive string // of gas
}

// left returns the properties of a function that are left to the author. Before an object file
// is linked, it is unknown whether there is a language-specific data area.
func (p *printer) left(f *function) (list []leftover) {
	cie := f.FDE.CIE
	personality := leftover{"has a personality routine", "cie.Personality and cie.PersonalityEnc",
		fmt.Sprintf(".cfi_personality %#x, YOUR_ROUTINE", uint8(cie.PersonalityEnc))}
	switch at := cie.Personality; {
	case cie.PersonalityEnc == cfi.EncOmit:
	case p.unlinked():
		list = append(list, personality)
	case at.Address != 0:
		if personality.what += fmt.Sprintf(", at %#x", at.Address); at.Indirect {
			personality.what = fmt.Sprintf("has a personality routine, whose address the slot at %#x holds", at.Address)
		}
		list = append(list, personality)
	}
	lsda := leftover{"has a language-specific data area", "cie.LSDAEncoding and the program's LSDA",
		fmt.Sprintf(".cfi_lsda %#x, YOUR_TABLE", uint8(cie.LSDAEncoding))}
	switch at := f.FDE.LSDA; {
	case cie.LSDAEncoding == cfi.EncOmit:
	case p.unlinked():
		lsda.what = "may have a language-specific data area"
		list = append(list, lsda)
	case at.Address != 0:
		lsda.what += fmt.Sprintf(", at %#x", at.Address)
		list = append(list, lsda)
	}
	return list
}
