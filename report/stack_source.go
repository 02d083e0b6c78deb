// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"bytes"
	"strconv"
	"strings"
)

// around writes three lines of the source: the one that a frame is at, marked, and
// those beside it.
func (p *stackPrinter) around(file string, line int) {
	switch {
	case p.Source == nil || line < 1:
	case p.Source.Later:
		p.out = append(p.out, laterMark)
		p.out = append(p.out, strings.ReplaceAll(file, "\x00", "")...)
		p.out = append(p.out, laterMark)
		p.out = strconv.AppendInt(p.out, int64(line), 10)
		p.out = append(p.out, laterMark)
	default:
		p.out = p.Source.appendAround(p.out, p.Palette, file, line)
	}
}

// laterMark surrounds what SourceText.Fill replaces: the path of a file, and after
// another one a line. No other text that is printed has a NUL.
const laterMark = 0

// Fill returns stacks that were printed with Later, with the lines around each frame.
func (t *SourceText) Fill(text []byte, p Palette) []byte {
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

// appendAround appends the lines around one.
func (t *SourceText) appendAround(out []byte, p Palette, file string, line int) []byte {
	if t.Line(file, line) == "" {
		return out
	}
	for n := max(line-1, 1); n <= line+1; n++ {
		text, ok := t.Indented(file, n)
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
			out = p.Dim.append(out, text)
		}
		out = append(out, '\n')
	}
	return out
}
