// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"
	"unicode/utf8"
)

// The length of a name is that of a symbol, a function or a path, in bytes. One line of a
// perf map can name all frames of a deep recursion, and JSON and folded stacks repeat the
// name at each frame.
const (
	maxName      = 16 << 10 // longer names are cut
	maxAllNames  = 32 << 20 // of all frames together; with more, names longer than maxShortName are cut
	maxShortName = 256
)

// shortenNames cuts names that are too long, and more of them where the names of all
// frames together are.
func (w *wanted) shortenNames(stacks []Stack) {
	long := false
	for _, a := range w.of {
		a.shortenNames(maxName)
		for n := range a.list {
			long = long || a.nameLength(n) > maxShortName
		}
	}
	if !long {
		return
	}
	all := 0
	for i := range stacks {
		for j := range stacks[i].Frames {
			if o := stacks[i].Frames[j].Object; o != nil {
				all += w.addresses(o).nameLength(int(w.places[i][j]))
			}
		}
	}
	if all > maxAllNames {
		for _, a := range w.of {
			a.shortenNames(maxShortName)
		}
	}
}

// nameLength returns the length of all names at the nth address.
func (a *addresses) nameLength(n int) int {
	length := 0
	if n < len(a.symbols) {
		length = len(a.symbols[n].Name)
	}
	if a.locations != nil {
		for i := range a.locations[n] {
			l := &a.locations[n][i]
			length += len(l.Function) + len(l.File)
		}
	}
	return length
}

// shortenNames cuts the names that are longer than most bytes.
func (a *addresses) shortenNames(most int) {
	for i := range a.symbols {
		a.symbols[i].Name = shortened(a.symbols[i].Name, most)
	}
	for i, list := range a.locations {
		copied := false
		for j := range list {
			if len(list[j].Function) <= most && len(list[j].File) <= most {
				continue
			}
			if !copied { // the file keeps the list for others
				list, copied = slices.Clone(list), true
			}
			list[j].Function = shortened(list[j].Function, most)
			list[j].File = shortened(list[j].File, most)
		}
		a.locations[i] = list
	}
}

// shortened returns a name, or the first bytes of one that is longer than most, and an
// ellipsis.
func shortened(name string, most int) string {
	if len(name) <= most {
		return name
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}
