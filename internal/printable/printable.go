// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package printable escapes text that other people control: names of functions, files,
// threads and events, and messages that contain them. A terminal obeys the escape sequences
// and the bidirectional controls in a text, so that a name could change the lines around it.
// This package replaces a character that is not printable with an escape of Go: \x1b, \u202e.
//
// All functions may be called from several goroutines; the methods of a [Writer] may not.
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

// Is reports whether a character is printable: a letter, mark, number, punctuation, symbol
// or the ASCII space ([unicode.IsPrint]). Controls (C0, DEL, C1) and format characters such
// as the bidirectional controls are not printable.
func Is(r rune) bool { return unicode.IsPrint(r) }

// Text returns a name, a path or a line with every character escaped that is not printable,
// except tabs. Each byte that is not UTF-8 is escaped.
func Text(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return string(appendText(nil, s, false))
		}
	}
	return s
}

// Append appends the Text of s to dst.
func Append(dst, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return appendText(dst, string(s), false)
		}
	}
	return append(dst, s...)
}

// appendText appends the Text of s. If lines is set, it keeps newlines.
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

// appendEscape appends a character, or a byte that is not UTF-8, as in a Go string literal.
func appendEscape(dst []byte, s string) []byte {
	quoted := strconv.Quote(s)
	return append(dst, quoted[1:len(quoted)-1]...)
}

// AppendJSON appends a character of a string in JSON, which is not a quote or a backslash.
// It escapes a character that is not printable; the JSON still means the same string.
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

// EncodeJSON writes a value as one line of JSON. It does not escape <, > and &, and escapes
// every character that is not printable; package encoding/json escapes only some.
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

// jsonBuffer is the output of a JSON encoder.
type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = AppendJSONText(*b, p)
	return len(p), nil
}

// AppendJSONText appends JSON text in UTF-8, with every character of its strings escaped
// that is not printable. Outside of strings, JSON is ASCII.
func AppendJSONText(dst, text []byte) []byte {
	for len(text) > 0 {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		if r < ' ' { // a carriage return outside of strings
			dst = append(dst, byte(r))
		} else {
			dst = AppendJSON(dst, r)
		}
		text = text[size:]
	}
	return dst
}

// special sets the highest bit of each of eight bytes that is neither printable ASCII nor a
// newline. Bits of bytes after the first such byte may be wrong.
func special(x uint64) uint64 {
	const (
		each = 0x0101010101010101 // one in each byte
		high = each << 7
	)
	// The highest bit of each byte is the result. Only special bytes carry.
	fromSpace := x + each*(0x80-' ')
	newline := ^((x ^ each*'\n') + each*0x7f)
	return (^(fromSpace | newline) | x + each | x) & high
}

// plain returns the length of the text before the first character that is not printable, a
// tab or a newline.
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
