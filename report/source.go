// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clewdev/clew/cfi"
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

// SourceText reads lines of source files, each file once. A file that is not
// there, or is no text file of a sensible size, has no lines, nor have those beyond a
// sensible number. It may be used from several goroutines.
type SourceText struct {
	// Path are folders, absolute paths, below which a file is looked for that is not
	// where it was compiled.
	Path []string

	mu    sync.Mutex
	files map[string][]string
	size  int // of them, bytes
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
	if lines := readLines(path); lines != nil {
		return lines
	}
	for _, dir := range t.Path {
		for rest := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(path)), "/"); rest != ""; _, rest, _ = strings.Cut(rest, "/") {
			if lines := readLines(filepath.Join(dir, rest)); lines != nil {
				return lines
			}
		}
	}
	return nil
}

func readLines(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	// Opening a pipe or a device could block or do things.
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) > maxSource {
		return nil
	}
	return strings.Split(string(data), "\n")
}
