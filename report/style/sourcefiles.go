// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
)

// SourceFiles reads lines of source files, each file once. Files that are missing,
// unreadable, too large or too many have no lines. Concurrent calls are allowed.
type SourceFiles struct {
	// Open opens a source file by its absolute path. The path comes from debugging
	// information, and its author may have fewer rights than this process: see
	// snapshot.Process.OpenSource and object.File.OpenSource. A nil Open opens files with
	// the rights of this process.
	Open func(path string) (*os.File, error)

	// Path is a list of folders, as absolute paths. Files that Open cannot open are searched
	// below them.
	Path []string

	// Later defers reading: printers of stacks write a mark instead of the lines around a
	// frame, and Fill replaces it. Reading a file can take long, so the stacks of a process
	// that is held are printed in this way.
	Later bool

	mu    sync.Mutex
	files map[string][]string
	size  int // of the files, in bytes
	err   error
}

// Err returns the error for the first existing file that could not be read, or nil.
func (t *SourceFiles) Err() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Limits, because the names of the files come from the inspected file.
const (
	maxSource  = 8 << 20  // bytes of a file
	maxSources = 64 << 20 // bytes of all files
	maxFiles   = 4096
)

// Line returns a line of a file, counted from 1, without the spaces around it.
func (t *SourceFiles) Line(path string, number int) string {
	text, _ := t.indented(path, number)
	return strings.TrimSpace(text)
}

// indented returns a line of a file, counted from 1, with the spaces before it. ok is false
// if the file lacks the line.
func (t *SourceFiles) indented(path string, number int) (text string, ok bool) {
	if t == nil {
		return "", false
	}
	lines := t.lines(path)
	if number < 1 || number > len(lines) || number == len(lines) && lines[number-1] == "" {
		return "", false
	}
	return printable.Text(strings.TrimRight(lines[number-1], " \t\r")), true
}

func (t *SourceFiles) lines(path string) []string {
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

// read returns the lines of a file: of path itself, or else of the file below the folders of
// Path that has the longest suffix of path in common.
func (t *SourceFiles) read(path string) []string {
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
		for suffix := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(path)), "/"); suffix != ""; _, suffix, _ = strings.Cut(suffix, "/") {
			lines, err := readLines(untrusted.OpenBelow(dir, suffix))
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

// isAbsent reports whether an error means that the file does not exist.
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

// laterMark starts, separates and ends the path and the line number that SourceFiles.Fill
// replaces. Other printed text contains no NUL.
const laterMark = 0

// Fill returns text, which was printed with Later, with the lines around each frame.
func (t *SourceFiles) Fill(text []byte, p Palette) []byte {
	var out []byte
	for {
		before, rest, found := bytes.Cut(text, []byte{laterMark})
		out = append(out, before...)
		file, rest, ok := bytes.Cut(rest, []byte{laterMark})
		number, rest, complete := bytes.Cut(rest, []byte{laterMark})
		if !found || !ok || !complete {
			return out
		}
		if line, err := strconv.Atoi(string(number)); err == nil {
			out = t.appendAround(out, p, string(file), line)
		}
		text = rest
	}
}

// AppendAround appends three lines of a file: the one with the given number, marked, and the
// lines before and after it. With Later it appends the mark that Fill replaces.
func (t *SourceFiles) AppendAround(out []byte, p Palette, file string, line int) []byte {
	switch {
	case t == nil || line < 1:
		return out
	case t.Later:
		out = append(out, laterMark)
		out = append(out, strings.ReplaceAll(file, "\x00", "")...)
		out = append(out, laterMark)
		out = strconv.AppendInt(out, int64(line), 10)
		return append(out, laterMark)
	}
	return t.appendAround(out, p, file, line)
}

func (t *SourceFiles) appendAround(out []byte, p Palette, file string, line int) []byte {
	if t.Line(file, line) == "" {
		return out
	}
	for n := max(line-1, 1); n <= line+1; n++ {
		text, ok := t.indented(file, n)
		if !ok {
			break
		}
		mark := "   "
		if n == line {
			mark = " > "
		}
		number := strconv.Itoa(n)
		out = append(out, "     "+mark+strings.Repeat(" ", max(0, 5-len(number)))+number+"  "...)
		if n == line {
			out = append(out, text...)
		} else {
			out = p.Dim.Append(out, text)
		}
		out = append(out, '\n')
	}
	return out
}
