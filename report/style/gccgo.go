// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// gccgoEscapes maps the character after an underscore to the character that gccgo encodes
// with the two (gofrontend: go-encode-id.cc, names.cc).
var gccgoEscapes = [256]byte{
	'_': '_', '0': '.', '1': '/', '2': '*', '3': ',', '4': '{', '5': '}', '6': '[', '7': ']', '8': '(', '9': ')',
	'a': '"', 'b': ' ', 'c': ';',
}

// gccgoDigits is the number of hexadecimal digits after the letter of an escape that
// contains a character's number.
var gccgoDigits = [256]int{'x': 2, 'u': 4, 'U': 8}

// clone matches the suffix that gcc appends to the symbol of a copy or a part of a function.
var clone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\.(?:cold|isra|part|constprop|lto_priv|\d+))+$`)
})

// DecodeGccgo returns the name that gccgo encoded as a symbol: "example.com/my-pkg.F" for
// "example_0com_1my_x2dpkg.F" and its clones. The symbol of a Go function has a dot between
// its package and its name. ok is false for other symbols, such as those of C functions in
// the same program.
func DecodeGccgo(symbol string) (name string, ok bool) {
	if len(symbol) > maxMangled {
		return "", false
	}
	if symbol = clone().ReplaceAllString(symbol, ""); !strings.Contains(symbol, ".") {
		return "", false
	}
	decoded := make([]byte, 0, len(symbol))
	for rest := symbol; ; {
		plain, escaped, found := strings.Cut(rest, "_")
		decoded = append(decoded, plain...)
		if !found {
			return string(decoded), true
		}
		if escaped == "" {
			return "", false
		}
		kind := escaped[0]
		rest = escaped[1:]
		if n := gccgoDigits[kind]; n > 0 {
			if len(rest) < n {
				return "", false
			}
			char, err := strconv.ParseUint(rest[:n], 16, 32)
			if err != nil || char > utf8.MaxRune {
				return "", false
			}
			if rest = rest[n:]; kind == 'x' {
				decoded = append(decoded, byte(char))
			} else {
				decoded = utf8.AppendRune(decoded, rune(char))
			}
		} else if c := gccgoEscapes[kind]; c != 0 {
			decoded = append(decoded, c)
		} else {
			return "", false
		}
	}
}
