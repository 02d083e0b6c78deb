// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import "unicode/utf8"

// Lengths of symbols, functions and paths, in bytes. One line of a perf map can name all
// frames of a deep recursion, and JSON and folded stacks repeat the name at each frame.
const (
	MaxName      = 16 << 10 // longer names are cut
	MaxAllNames  = 32 << 20 // of all frames together; with more, names longer than MaxShortName are cut
	MaxShortName = 256
)

// Shortened returns a name, or, of a name that is longer than most bytes, its first bytes
// and an ellipsis.
func Shortened(name string, most int) string {
	if len(name) <= most {
		return name
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}
