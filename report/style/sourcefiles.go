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

// SourceFiles reads lines of source files, each file once. A file that does not exist or
// may not be read, or is not a text file of a sensible size, has no lines, nor have those
// beyond a sensible number. It may be used from several goroutines.
type SourceFiles struct {
	// Open opens a source file by its absolute path. The path comes from debugging
	// information, and its author may have fewer rights than this process: see
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
func (t *SourceFiles) Err() error {
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
func (t *SourceFiles) Line(path string, number int) string {
	text, _ := t.indented(path, number)
	return strings.TrimSpace(text)
}

// indented returns a line of a file, counted from 1, with the spaces before it, and
// false where the file has no such line.
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

// lines returns the lines of a file.
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

// read reads a file: where it was compiled, else below the folders of Path, by the
// longest end of its path that is there.
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

// laterMark surrounds what SourceFiles.Fill replaces: the path of a file, and after
// another one a line. No other text that is printed has a NUL.
const laterMark = 0

// Fill returns stacks that were printed with Later, with the lines around each frame.
func (t *SourceFiles) Fill(text []byte, p Palette) []byte {
	var out []byte
	for {
		before, rest, found := bytes.Cut(text, []byte{laterMark})
		out = append(out, before...)
		file, rest, ok := bytes.Cut(rest, []byte{laterMark})
		number, rest, whole := bytes.Cut(rest, []byte{laterMark})
		if !found || !ok || !whole {
			return out
		}
		if line, err := strconv.Atoi(string(number)); err == nil {
			out = t.appendAround(out, p, string(file), line)
		}
		text = rest
	}
}

// AppendAround appends three lines of a file: the one with a number, marked, and those
// beside it. With Later it appends what Fill replaces.
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
