// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/printable"
)

// clonedName is the copy of the name of a function of generated code. The frames of a
// function are named one after the other and share the copy.
type clonedName struct{ of, copy string }

func (c *clonedName) clone(name string) string {
	if name != c.of {
		c.of, c.copy = name, strings.Clone(printable.Shortened(name, printable.MaxName))
	}
	return c.copy
}

// shortenNames cuts names of frames that are too long, and more of them where the names
// of all frames together are.
func (b *builder) shortenNames(frames []Frame) {
	for i := range frames {
		b.nameBytes += frames[i].nameLength()
	}
	most := printable.MaxName
	if b.nameBytes > printable.MaxAllNames {
		most = printable.MaxShortName
	}
	for i := range frames {
		f := &frames[i]
		if f.nameLength() <= most {
			continue
		}
		f.Symbol.Name = printable.Shortened(f.Symbol.Name, most)
		f.Locations = slices.Clone(f.Locations) // other frames may have the same
		for j := range f.Locations {
			l := &f.Locations[j]
			l.Function, l.File = printable.Shortened(l.Function, most), printable.Shortened(l.File, most)
		}
	}
}

// nameLength returns the length of the names of a frame, each cut to the longest.
func (f *Frame) nameLength() int {
	length := min(len(f.Symbol.Name), printable.MaxName+1)
	for i := range f.Locations {
		l := &f.Locations[i]
		length += min(len(l.Function), printable.MaxName+1) + min(len(l.File), printable.MaxName+1)
	}
	return length
}
