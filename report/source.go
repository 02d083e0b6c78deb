// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/untrusted"
)

// Source writes the instructions of the function and beside them its rows:
// each row starts with a line of its rules, in full the first, and what
// changed the others. The instruction that the explained address is in is
// marked. text gives lines of source code, and may be nil.
func (e *Explanation) Source(w io.Writer, p Palette, lines []CodeLine, text *SourceText) error {
	rows := e.rowChanges()
	width := 0
	for i := range lines {
		width = max(width, utf8.RuneCountInString(lines[i].Text))
	}
	width = min(width, 48)
	addressWidth := len(hex(e.Function.FDE.End))
	offsetWidth := len(hex(e.Function.FDE.End-e.Function.FDE.Start)) + 1
	b := bufio.NewWriter(w)
	file, number := "", 0
	next := 0 // the row that starts next
	for i := range lines {
		l := &lines[i]
		if l.Line > 0 && (l.File != file || l.Line != number) {
			file, number = l.File, l.Line
			where := fmt.Sprintf("%s:%d", Printable(filepath.Base(file)), number)
			b.WriteString(p.Source.Text(strings.TrimRight(where+"  "+text.Line(file, number), " ")) + "\n")
		}
		mark, ink := "  ", Ink{}
		if l.Address <= e.Address && e.Address-l.Address < uint64(l.Size) {
			mark, ink = "> ", p.Mark
		}
		edge, rules := "│", ""
		if next < len(rows) && rows[next].start <= l.Address {
			edge, rules = "├", "  "+p.Rule.Text(rows[next].text)
			next++
		}
		pad := max(width-utf8.RuneCountInString(l.Text), 0)
		fmt.Fprintf(b, "%s%s  %s  %s  %s%s\n",
			ink.on+mark, fmt.Sprintf("%-*s", addressWidth, hex(l.Address))+ink.off,
			p.Dim.Text(fmt.Sprintf("%-*s", offsetWidth, "+"+hex(l.Address-e.Function.FDE.Start))),
			l.Text+spaces[:pad], p.Dim.Text(edge), rules)
		// A row that starts inside of an instruction is most likely a mistake.
		for next < len(rows) && rows[next].start < l.Address+uint64(l.Size) {
			r := rows[next]
			next++
			fmt.Fprintf(b, "  %*s  %s\n", addressWidth+offsetWidth+width+4, "", p.Error.Text(
				fmt.Sprintf("├  %s (from %#x, inside of this instruction)", r.text, r.start)))
		}
	}
	return b.Flush()
}

// rowChange is what is new in a row.
type rowChange struct {
	start uint64
	text  string
}

// rowChanges says of each row what differs from the one before.
func (e *Explanation) rowChanges() (list []rowChange) {
	fde := e.Function.FDE
	s := fde.CIE.Section
	n := notation{section: s}
	var x cfi.Interpreter
	var cfa cfi.Rule
	var before []cfi.RegisterRule
	for row := range x.Rows(fde) {
		var parts []string
		if row.CFA != cfa || list == nil {
			parts = append(parts, "CFA="+string(n.appendCFA(nil, row.CFA)))
		}
		old := cfi.Row{Registers: before}
		for _, r := range row.Registers {
			if old.Register(uint64(r.Column)) != r.Rule {
				parts = append(parts, e.columnName(r.Column)+"="+string(n.appendRule(nil, r.Rule)))
			}
		}
		for _, r := range before {
			if row.Register(uint64(r.Column)).Kind == cfi.Unspecified {
				parts = append(parts, e.columnName(r.Column)+": no rule")
			}
		}
		cfa, before = row.CFA, append(before[:0], row.Registers...)
		list = append(list, rowChange{row.Start, strings.Join(parts, " ")})
		if len(list) == maxCode {
			break
		}
	}
	return list
}

// columnName is the name of a column as tables head it.
func (e *Explanation) columnName(column uint32) string {
	cie := e.Function.FDE.CIE
	if uint64(column) == cie.ReturnAddress {
		return "ra"
	}
	return cie.Section.Machine.RegisterName(uint64(column))
}

// SourceText reads lines of source files, each file once. A file that does not exist or
// may not be read, or is not a text file of a sensible size, has no lines, nor have those
// beyond a sensible number. It may be used from several goroutines.
type SourceText struct {
	// Open opens a source file by its absolute path. The path comes from debugging
	// information, whose author may have fewer rights than this process: see
	// snapshot.Process.OpenSource and object.File.OpenSource. Where it is nil, the rights of
	// this process decide.
	Open func(path string) (*os.File, error)

	// Path are folders, absolute paths, below which a file is looked for that Open does
	// not open.
	Path []string

	// Later says that nothing is read yet: the printers of stacks leave a mark in the
	// place of the lines around a frame, which Fill replaces. The stacks of a process that
	// is held are printed so, since reading a file can take long.
	Later bool

	mu    sync.Mutex
	files map[string][]string
	size  int // of them, bytes
	err   error
}

// Err returns why the first of the files that exist was not read, nil where all were.
func (t *SourceText) Err() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// maxSource is the size of the largest source file that is read, maxSources of all
// together, and maxFiles how many are looked for: their names come from the file that is
// looked at.
const (
	maxSource  = 8 << 20
	maxSources = 64 << 20
	maxFiles   = 4096
)

// Line returns a line of a file, counted from 1, without the spaces around it.
func (t *SourceText) Line(path string, number int) string {
	text, _ := t.Indented(path, number)
	return strings.TrimSpace(text)
}

// Indented returns a line of a file, counted from 1, with the spaces before it, and
// false where the file has no such line.
func (t *SourceText) Indented(path string, number int) (text string, ok bool) {
	if t == nil {
		return "", false
	}
	lines := t.lines(path)
	if number < 1 || number > len(lines) || number == len(lines) && lines[number-1] == "" {
		return "", false
	}
	return Printable(strings.TrimRight(lines[number-1], " \t\r")), true
}

// lines returns the lines of a file.
func (t *SourceText) lines(path string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines, ok := t.files[path]
	if !ok && len(t.files) < maxFiles && t.size < maxSources {
		lines = t.read(path)
		for _, line := range lines {
			t.size += len(line) + 1
		}
		if t.files == nil {
			t.files = make(map[string][]string)
		}
		t.files[path] = lines
	}
	return lines
}

// read reads a file: where it was compiled, else below the folders of Path, by the
// longest end of its path that is there.
func (t *SourceText) read(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	open := t.Open
	if open == nil {
		open = func(path string) (*os.File, error) { return untrusted.Open("", path) }
	}
	lines, failed := readLines(open(path))
	if failed == nil {
		return lines
	}
	for _, dir := range t.Path {
		for rest := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(path)), "/"); rest != ""; _, rest, _ = strings.Cut(rest, "/") {
			lines, err := readLines(untrusted.OpenBelow(dir, rest))
			if err == nil {
				return lines
			}
			if isAbsent(failed) {
				failed = err
			}
		}
	}
	if t.err == nil && !isAbsent(failed) {
		t.err = failed
	}
	return nil
}

// isAbsent reports whether an error says that there is no file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readLines returns the lines of a file, which it closes.
func readLines(f *os.File, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := untrusted.ReadAll(f, maxSource)
	if err != nil {
		return nil, err
	}
	return strings.Split(string(data), "\n"), nil
}
