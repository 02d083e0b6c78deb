// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package printable shows text that other people control: names of functions, files,
// threads and events, and messages that contain them. A terminal obeys the escape
// sequences in a text, and reorders it by bidirectional controls, so that a name could
// change what the lines around it say. Here a character that is not printable becomes an
// escape of Go: \x1b, \u202e.
//
// All functions may be called from several goroutines, the methods of a [Writer] from one.
package printable

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Is reports whether a terminal only shows a character: it is a letter, mark, number,
// punctuation, symbol or the ASCII space ([unicode.IsPrint]). Controls are not printable
// (C0, DEL, C1), nor are format characters such as the bidirectional controls.
func Is(r rune) bool { return unicode.IsPrint(r) }

// Text returns a name, a path or a line such that it cannot change the print around it.
// It stays as it is if it is printable; a tab is. What is not UTF-8 is escaped by the byte.
func Text(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return string(appendText(nil, s, false))
		}
	}
	return s
}

// Append appends Text of s.
func Append(dst, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return appendText(dst, string(s), false)
		}
	}
	return append(dst, s...)
}

// appendText appends text, where lines says that it may be more than one line.
func appendText(dst []byte, s string, lines bool) []byte {
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			size = 1
		} else if r == '\t' || Is(r) || lines && r == '\n' {
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = appendEscape(dst, s[i:i+size])
	}
	return dst
}

// appendEscape appends a character, or a byte that is not of one, as Go writes it in a
// string.
func appendEscape(dst []byte, s string) []byte {
	quoted := strconv.Quote(s)
	return append(dst, quoted[1:len(quoted)-1]...)
}

// AppendJSON appends a character of a string in JSON, but for the quote and the backslash.
// What is not printable is escaped, so that a reader of the JSON gets the same string.
func AppendJSON(dst []byte, r rune) []byte {
	if Is(r) {
		return utf8.AppendRune(dst, r)
	}
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar { // RFC 8259 §7
		return appendUnit(appendUnit(dst, high), low)
	}
	return appendUnit(dst, r)
}

func appendUnit(dst []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// EncodeJSON writes a value as JSON on a line. It leaves <, > and & as they are, and
// escapes what is not printable, which package encoding/json does in part.
func EncodeJSON(w io.Writer, value any) error {
	var b jsonBuffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// jsonBuffer is the output of a JSON encoder; its strings are UTF-8.
type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = AppendJSONText(*b, p)
	return len(p), nil
}

// AppendJSONText appends JSON with what is not printable in its strings escaped. Between
// them JSON is ASCII.
func AppendJSONText(dst, text []byte) []byte {
	for len(text) > 0 {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		if r < ' ' { // between strings: a carriage return
			dst = append(dst, byte(r))
		} else {
			dst = AppendJSON(dst, r)
		}
		text = text[size:]
	}
	return dst
}

// special returns the highest bit of those of eight bytes that are neither printable ASCII
// nor the end of a line. After the first of them others may be set as well.
func special(x uint64) uint64 {
	const (
		each = 0x0101010101010101 // one in each byte
		high = each << 7
	)
	// The highest bit of a byte says whether that is so. Only what is special has a carry.
	fromSpace := x + each*(0x80-' ')
	newline := ^((x ^ each*'\n') + each*0x7f)
	return (^(fromSpace | newline) | x + each | x) & high
}

// plain returns the length of the text before the first character that is neither
// printable nor a tab or the end of a line.
func plain(p []byte) int {
	i := 0
	for {
		var found uint64
		for ; len(p)-i >= 16; i += 16 {
			q := p[i : i+16]
			first, second := special(binary.LittleEndian.Uint64(q)), special(binary.LittleEndian.Uint64(q[8:]))
			if first|second == 0 {
				continue
			}
			if found = first; found == 0 {
				i, found = i+8, second
			}
			break
		}
		if found != 0 {
			i += bits.TrailingZeros64(found) / 8
		} else if i == len(p) {
			return i
		}
		switch c := p[i]; {
		case c >= ' ' && c < 0x7f || c == '\n' || c == '\t':
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && size == 1 || !Is(r) {
				return i
			}
			i += size
		}
	}
}
