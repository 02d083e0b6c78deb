// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"strconv"
	"strings"
)

// around writes three lines of the source: the one that a frame is at, marked, and
// those beside it.
func (p *stackPrinter) around(file string, line int) {
	if p.Source == nil || line < 1 || p.Source.Line(file, line) == "" {
		return
	}
	for n := max(line-1, 1); n <= line+1; n++ {
		text, ok := p.Source.Indented(file, n)
		if !ok {
			break
		}
		mark := "   "
		if n == line {
			mark = " > "
		}
		number := strconv.Itoa(n)
		p.out = append(p.out, "     "+mark+strings.Repeat(" ", max(0, 5-len(number)))+number+"  "...)
		if n == line {
			p.out = append(p.out, text...)
		} else {
			p.out = p.Palette.Dim.append(p.out, text)
		}
		p.out = append(p.out, '\n')
	}
}
