// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

func (c *Console) locate(location string) ([]uint64, error) {
	addresses, _, err := c.resolve(location)
	return addresses, err
}

// resolve finds the addresses of a location. It can be an expression (*$pc), or a line of
// the file that was listed last. named is the session's name for the location, "" for an
// address.
func (c *Console) resolve(location string) (addresses []uint64, named string, err error) {
	if text, ok := strings.CutPrefix(location, "*"); ok {
		if a, err := c.address(text); err == nil {
			return []uint64{a}, "", nil
		}
	}
	if n, err := strconv.Atoi(location); err == nil {
		file, line := c.list.file, c.list.around
		if f := c.current(); f != nil {
			file, line = f.Location.File, f.Location.Line
		} else if file == "" {
			if file, line, err = c.firstLine(); err != nil {
				return nil, "", err
			}
		}
		if location[0] == '+' || location[0] == '-' {
			n += line
		}
		location = fmt.Sprintf("%s:%d", file, n)
	}
	addresses, err = c.session.Locate(location)
	if errors.Is(err, session.ErrNotFound) && !strings.ContainsAny(location, ":*+") {
		return nil, "", fmt.Errorf("function %q not defined", location)
	}
	return addresses, location, err
}

var conditionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)if(\s|\()`) })

// CutCondition splits the argument of break, "fib if n == 3", into a location and a condition.
func CutCondition(args string) (location, condition string) {
	at := conditionWord().FindStringIndex(args)
	if at == nil {
		return strings.TrimSpace(args), ""
	}
	condition = strings.TrimSpace(strings.TrimLeft(args[at[0]:], " \t"))
	return strings.TrimSpace(args[:at[0]]), strings.TrimSpace(strings.TrimPrefix(condition, "if"))
}

// Limits for source files. Their names come from untrusted debugging information.
const (
	maxSource = 8 << 20 // bytes
	maxFiles  = 256
)

// sourceFiles reads source files, each once.
type sourceFiles struct {
	directories []string
	files       map[string]*sourceFile
	current     string // the current directory
}

type sourceFile struct {
	lines    []string
	err      error
	reported bool // as missing
}

func newSourceFiles(directories []string) *sourceFiles {
	current, _ := os.Getwd() // without one, paths stay as they are
	return &sourceFiles{directories: directories, files: make(map[string]*sourceFile), current: current}
}

// shown returns a path for output: relative if it is below the current directory.
func (s *sourceFiles) shown(path string) string {
	if s.current != "" && filepath.IsAbs(path) {
		if relative, ok := strings.CutPrefix(filepath.Clean(path), s.current+string(filepath.Separator)); ok {
			return relative
		}
	}
	return path
}

func (s *sourceFiles) open(path string) *sourceFile {
	if f := s.files[path]; f != nil {
		return f
	}
	f := &sourceFile{err: fs.ErrNotExist}
	if len(s.files) < maxFiles {
		for _, candidate := range s.candidates(path) {
			if data, err := readSource(candidate); err == nil {
				f.err = nil
				for line := range strings.Lines(string(data)) {
					f.lines = append(f.lines, strings.TrimRight(line, "\r\n"))
				}
				break
			} else if !errors.Is(err, fs.ErrNotExist) {
				f.err = err
			}
		}
	}
	s.files[path] = f
	return f
}

func (s *sourceFiles) candidates(path string) []string {
	list := []string{path}
	for _, d := range append(s.directories, s.current) {
		if !filepath.IsAbs(path) {
			list = append(list, filepath.Join(d, path))
		}
		list = append(list, filepath.Join(d, filepath.Base(path)))
	}
	return list
}

func readSource(path string) ([]byte, error) {
	data, err := untrusted.ReadFile("", path, maxSource)
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = fmt.Errorf("%s is not a text file", path)
	}
	return data, err
}

// numbered returns a line as gdb shows it: "3\t  if (n < 2)".
func (s *sourceFiles) numbered(path string, line int) string {
	f := s.open(path)
	switch {
	case f.err == nil && line <= len(f.lines):
		return fmt.Sprintf("%d\t%s", line, f.lines[line-1])
	case f.err == nil:
		return fmt.Sprintf("%d\tin %s, which has %d lines", line, s.shown(path), len(f.lines))
	case f.reported:
		return fmt.Sprintf("%d\tin %s", line, s.shown(path))
	}
	f.reported = true
	if errors.Is(f.err, fs.ErrNotExist) {
		return fmt.Sprintf("%d\t%s: No such file or directory.", line, s.shown(path))
	}
	return fmt.Sprintf("%d\t%v", line, f.err)
}

type listing struct {
	file        string
	first, last int // the listed lines; 0 before the first list
	around      int // the line that was shown last, until list lists others
	info        int // the line of info line without an argument; 0 before the first list or info line
}

// at records that a line was shown.
func (l *listing) at(file string, line int) { *l = listing{file: file, around: line, info: line} }

// listed returns the number of lines of one list.
func (c *Console) listed() int {
	if c.listSize == 0 {
		return maxSource // each has at least one byte
	}
	return c.listSize
}

func (c *Console) listCommand(args string) error {
	c.repeatAs = "list"
	l := &c.list
	if args == "-" {
		c.repeatAs = "list -"
		if l.first == 1 {
			return errors.New("already at the start of the file")
		}
		if l.first == 0 {
			return c.listAround(l.file, max(1, l.around-c.listed()/2))
		}
		return c.listLines(l.file, max(1, l.first-c.listed()), l.first-1)
	}
	if args == "" || args == "+" {
		switch {
		case l.file != "" && l.around > 0:
			return c.listAround(l.file, l.around)
		case l.file != "":
			return c.listLines(l.file, l.last+1, l.last+c.listed())
		}
		file, line, err := c.firstLine()
		if err != nil {
			return err
		}
		return c.listAround(file, line)
	}
	from, to, isRange := strings.Cut(args, ",")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	file, line, err := c.sourceOf(from)
	if err != nil {
		return err
	}
	if !isRange {
		if from[0] == '*' {
			if addresses, err := c.locate(from); err == nil {
				c.printf("%#x is %s.\n", addresses[0], c.placeOf(addresses[0]))
			}
		}
		return c.listAround(file, line)
	}
	end := line + c.listed() - 1
	if to != "" {
		if n, ok := strings.CutPrefix(to, "+"); ok {
			count, err := strconv.Atoi(n)
			if err != nil || count < 0 {
				return fmt.Errorf("%q is not a number of lines", to)
			}
			end = line + count
		} else {
			var other string
			if other, end, err = c.sourceOf(to); err != nil {
				return err
			}
			if _, err := strconv.Atoi(to); err != nil && from != "" && other != file {
				return fmt.Errorf("%s is in %s, but %s is in %s: a range of lines must be in one file", from, c.source.shown(file), to, c.source.shown(other))
			} else if err != nil {
				file = other
			}
		}
	}
	if from == "" {
		line = max(1, end-c.listed()+1)
	}
	return c.listLines(file, line, end)
}

func (c *Console) listAround(file string, line int) error {
	first := max(1, line-c.listed()/2)
	return c.listLines(file, first, first+c.listed()-1)
}

func (c *Console) listLines(file string, first, last int) error {
	f := c.source.open(file)
	if f.err != nil {
		return fmt.Errorf("%s: %w; --directory adds a directory with sources", c.source.shown(file), f.err)
	}
	if first > len(f.lines) {
		c.list = listing{file: file, first: first, last: first - 1, info: first} // as in gdb
		return fmt.Errorf("line number %d out of range; %q has %d lines", first, c.source.shown(file), len(f.lines))
	}
	last = min(last, len(f.lines))
	for n := first; n <= last; n++ {
		if c.interrupt.Load() {
			return ErrInterrupted
		}
		c.printf("%d\t%s\n", n, f.lines[n-1])
	}
	c.list = listing{file: file, first: first, last: last, info: first}
	return nil
}

// firstLine returns the line where list begins before the first stop: that of the called
// function, or of the first function with a line.
func (c *Console) firstLine() (string, int, error) {
	if name, _, err := splitCall(c.callText); err == nil {
		if file, line, err := c.sourceOf(name); err == nil {
			return file, line, nil
		}
	}
	for _, name := range c.language.Functions() {
		if file, line, err := c.sourceOf(name); err == nil {
			return file, line, nil
		}
	}
	return "", 0, errors.New("no function has source lines; compile with -g")
}

// sourceOf finds the source line of a location.
func (c *Console) sourceOf(location string) (string, int, error) {
	if location == "" {
		if c.list.file == "" {
			return c.firstLine()
		}
		return c.list.file, max(c.list.around, c.list.last, 1), nil
	}
	// A line number needs no code.
	if n, err := strconv.Atoi(location); err == nil && n > 0 {
		file := c.list.file
		if file == "" {
			if file, _, err = c.firstLine(); err != nil {
				return "", 0, err
			}
		}
		return file, n, nil
	}
	if name, number, ok := strings.Cut(location, ":"); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			if path := c.fileNamed(name); path != "" {
				return path, n, nil
			}
		}
	}
	if list := c.functions(location); len(list) > 0 && list[0].Line > 0 {
		if r := frontend.Row(c.session, list[0].Entry); r.File != "" {
			return r.File, r.Line, nil
		}
	}
	addresses, err := c.locate(location)
	if err != nil {
		return "", 0, err
	}
	for _, a := range addresses {
		isFunction := location[0] != '*' && lineIn(location) == 0 && len(frontend.Locations(c.session, a)) == 1 // not inlined
		if i := c.session.Image(a); i != nil && isFunction {
			if f, ok := i.Function(a); ok {
				a = f.Start
			}
		}
		if r := frontend.Row(c.session, a); r.Line > 0 {
			return r.File, r.Line, nil
		}
	}
	return "", 0, fmt.Errorf("no source line for %s", location)
}
