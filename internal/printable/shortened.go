// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import "unicode/utf8"

// Lengths of symbols, functions and paths, in bytes. One line of a perf map can name all
// frames of a deep recursion, and JSON and folded stacks repeat the name at each frame.
const (
	MaxName      = 16 << 10 // longer names are shortened to it
	MaxAllNames  = 32 << 20 // of all frames together; if they exceed it, names are shortened to MaxShortName
	MaxShortName = 256
)

// Shortened returns a name, or the first bytes of a name of more than limit bytes and an
// ellipsis.
func Shortened(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}
