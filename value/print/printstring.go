// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// converted is a run of equal characters of a string.
type converted struct {
	character
	count int
}

// appendString writes the characters of a string as gdb's generic_printstr does: in C's
// syntax, and long runs of one character as 'c' <repeats N times>. Ellipsis is true if the
// string is longer than data.
func (w *printing) appendString(data []byte, width int, prefix string, ellipsis bool) {
	n := len(data) / width
	// The NUL that ends a string is left out.
	if !ellipsis && n > 0 && number.Uint(w.machine.Order, data[(n-1)*width:][:width]) == 0 {
		n--
	}
	w.appendQuoted(data[:n*width], width, prefix, '"', ellipsis)
}

// appendQuoted is appendString for a language with other quotes.
func (w *printing) appendQuoted(data []byte, width int, prefix string, quote byte, ellipsis bool) {
	mark := string(quote)
	if len(data) == 0 {
		w.add(prefix + mark + mark)
		return
	}
	unread := data
	var runs []converted
	total := 0
	for len(unread) > 0 && total < w.elements {
		run := converted{w.character(unread, width), 1}
		for unread = unread[len(run.units):]; bytes.HasPrefix(unread, run.units); unread = unread[len(run.units):] {
			// The bytes can also be the beginning of another character.
			if w.character(unread, width).r != run.r {
				break
			}
			run.count++
		}
		total += run.count
		runs = append(runs, run)
	}
	quoted := false
	escaped := false
	for k, run := range runs {
		if run.incomplete || run.count > w.repeats {
			if quoted {
				w.add(mark)
			}
			if k > 0 {
				w.add(", ")
			}
			quoted, escaped = false, false
			if run.incomplete {
				if k == 0 {
					w.add(prefix)
				}
				w.add("<incomplete sequence ")
				w.appendCharacter(run.character, quote, &escaped)
				w.add(">")
				continue
			}
			w.add(prefix + "'")
			w.appendCharacter(run.character, '\'', &escaped)
			w.add("' <repeats " + strconv.Itoa(run.count) + " times>")
			escaped = false
			continue
		}
		if !quoted {
			if k > 0 {
				w.add(", ")
			}
			w.add(prefix + mark)
			quoted, escaped = true, false
		}
		for range run.count {
			w.appendCharacter(run.character, quote, &escaped)
		}
	}
	if quoted {
		w.add(mark)
	}
	if ellipsis || len(unread) > 0 {
		w.add("...")
	}
}

// character is a character of a string, or units that are not a valid one.
type character struct {
	units      []byte
	width      int  // bytes of a unit
	r          rune // -1 if the units are not a character
	incomplete bool // the string ends within it
}

// character returns the first character of a string that is not empty.
func (w *printing) character(data []byte, width int) character {
	c := character{units: data[:width], width: width, r: -1}
	switch n := number.Uint(w.machine.Order, c.units); {
	case n < utf8.RuneSelf:
		c.r = rune(n)
	case width == 1 && w.UTF8:
		r, size := utf8.DecodeRune(data)
		switch {
		case size > 1:
			c.units, c.r = data[:size], r
		case !utf8.FullRune(data):
			c.units, c.incomplete = data, true
		}
	case width == 2 && utf16.IsSurrogate(rune(n)):
		if n >= 0xdc00 {
			break // the second half of one
		}
		if len(data) < 2*width {
			c.incomplete = true
			break
		}
		if r := utf16.DecodeRune(rune(n), rune(number.Uint(w.machine.Order, data[width:][:width]))); r != utf8.RuneError {
			c.units, c.r = data[:2*width], r
		}
	case width > 1 && n <= utf8.MaxRune && utf8.ValidRune(rune(n)):
		c.r = rune(n)
	}
	return c
}

// appendChar writes a number that is a character within quotes.
func (w *printing) appendChar(n uint64, width int, quote byte) {
	b := make([]byte, 8)
	number.PutUint(w.machine.Order, b[:min(width, 8)], n)
	escaped := false
	w.appendCharacter(w.character(b[:min(width, 8)], min(width, 8)), quote, &escaped)
}

// appendCharacter writes a character within quotes. It also escapes a digit after a hexadecimal
// escape, because it would be a part of the escape. escaped is true if the last character was
// escaped in hexadecimal.
func (w *printing) appendCharacter(c character, quote byte, escaped *bool) {
	needed := *escaped
	*escaped = false
	if c.r >= '\a' && c.r <= '\r' {
		w.add(`\` + escapes[c.r-'\a':c.r-'\a'+1])
		return
	}
	isDigit := c.r >= '0' && c.r <= '9' || c.r >= 'a' && c.r <= 'f' || c.r >= 'A' && c.r <= 'F'
	if (c.r >= ' ' && c.r < 0x7f || w.UTF8 && isVisible(c.r)) && !(needed && isDigit) {
		if c.r == rune(quote) || c.r == '\\' {
			w.add(`\`)
		}
		w.add(string(c.r))
		return
	}
	for units := c.units; len(units) > 0; units = units[c.width:] {
		if n := number.Uint(w.machine.Order, units[:c.width]); n <= 0777 {
			w.add(fmt.Sprintf(`\%03o`, n))
		} else {
			w.add(fmt.Sprintf(`\x%x`, n))
			*escaped = true
		}
	}
}

// isVisible reports whether a character that is not in ASCII can be shown unescaped: it has a
// visible shape and does not change the direction or order of the text around it, as Unicode's
// Cc, Cf, Zl, Zp and default-ignorable characters do.
func isVisible(r rune) bool {
	return r >= 0xa0 && unicode.IsPrint(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// escapes are the letters of the escapes \a to \r, in the order of their codes.
const escapes = "abtnvfr"

// textual reports whether a type is a character type, and returns the prefix of its quotes. gdb
// knows C's wide characters by name.
func textual(t *value.Type) (prefix string, ok bool) {
	for range maxTypes {
		switch t.Name() {
		case "wchar_t":
			return "L", true
		case "char16_t":
			return "u", true
		case "char32_t":
			return "U", true
		}
		switch t.Kind() {
		case value.Typedef, value.Const, value.Volatile, value.Restrict, value.Atomic:
			t = t.Elem()
			continue
		case value.Char:
			return "", t.Language() != value.Rust // an array of char is not a string in Rust
		case value.Int:
			// C does not distinguish a number of one byte from a character.
			return "", (t.Language() == value.C || t.Language() == value.CPlusPlus) && t.Size() == 1
		}
		break
	}
	return "", false
}

// appendPointed writes the string at an address, at most Elements characters.
func (w *printing) appendPointed(f value.Frame, address, width uint64, prefix string) {
	if f == nil || width == 0 || width > 4 {
		return
	}
	var data []byte
	limit := uint64(w.elements) * width
	var problem error
	end := false
	for !end && uint64(len(data)) < limit {
		// Read up to the end of a page, because the next one may not be mapped.
		at := address + uint64(len(data))
		n := min(limit-uint64(len(data)), 4096-at%4096, 256)
		if n = n / width * width; n == 0 {
			n = width
		}
		chunk := make([]byte, n)
		if f.ReadMemory(chunk, at) != nil {
			// Readable memory does not always end at a page.
			n, chunk = width, chunk[:width]
			if problem = f.ReadMemory(chunk, at); problem != nil {
				problem = &value.MemoryError{Address: at, Err: problem}
				break
			}
		}
		for k := uint64(0); k < n; k += width {
			data = append(data, chunk[k:k+width]...)
			if number.Uint(w.machine.Order, chunk[k:k+width]) == 0 {
				end = true
				break
			}
		}
	}
	if problem == nil || len(data) > 0 {
		more := false
		if !end && problem == nil {
			next := make([]byte, width)
			more = f.ReadMemory(next, address+uint64(len(data))) != nil || number.Uint(w.machine.Order, next) != 0
		}
		w.appendString(data, int(width), prefix, more)
	}
	if problem != nil {
		w.add("<error: " + message(problem) + ">")
	}
}
