// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"fmt"
	"strconv"
)

// AppendHex appends the result of Hex.
func AppendHex(dst []byte, v uint64) []byte {
	dst = append(dst, "0x"...)
	return strconv.AppendUint(dst, v, 16)
}

// Hex returns a number as hexadecimal digits after "0x".
func Hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// Count returns a number and a noun in singular or plural: "1 function",
// "12,345 functions".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Grouped(uint64(n)) + " " + noun
}

// Grouped returns a number with commas: "12,345".
func Grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
