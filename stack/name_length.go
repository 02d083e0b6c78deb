// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/internal/printable"
)

// shortenNames cuts names that are too long, and more of them where the names of all
// frames together are.
func (w *wanted) shortenNames(stacks []Stack) {
	long := false
	for _, a := range w.of {
		for n := range a.list {
			long = long || a.nameLength(n) > printable.MaxShortName
		}
	}
	if !long {
		return
	}
	most, all := printable.MaxName, 0
	for i := range stacks {
		for j := range stacks[i].Frames {
			if o := stacks[i].Frames[j].Object; o != nil {
				all += w.addresses(o).nameLength(int(w.places[i][j]))
			}
		}
	}
	if all > printable.MaxAllNames {
		most = printable.MaxShortName
	}
	for _, a := range w.of {
		a.shortenNames(most)
	}
}

// nameLength returns the length of all names at the nth address, each cut to the
// longest.
func (a *addresses) nameLength(n int) int {
	length := 0
	if n < len(a.symbols) {
		length = min(len(a.symbols[n].Name), printable.MaxName)
	}
	if a.locations != nil {
		for i := range a.locations[n] {
			l := &a.locations[n][i]
			length += min(len(l.Function), printable.MaxName) + min(len(l.File), printable.MaxName)
		}
	}
	return length
}

// shortenNames cuts the names that are longer than most bytes.
func (a *addresses) shortenNames(most int) {
	for i := range a.symbols {
		a.symbols[i].Name = printable.Shortened(a.symbols[i].Name, most)
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
			list[j].Function = printable.Shortened(list[j].Function, most)
			list[j].File = printable.Shortened(list[j].File, most)
		}
		a.locations[i] = list
	}
}
