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

// gccgoEscapes are the characters that gccgo writes as an underscore and another one in a
// symbol (gofrontend: go-encode-id.cc, names.cc).
var gccgoEscapes = [256]byte{
	'_': '_', '0': '.', '1': '/', '2': '*', '3': ',', '4': '{', '5': '}', '6': '[', '7': ']', '8': '(', '9': ')',
	'a': '"', 'b': ' ', 'c': ';',
}

// gccgoDigits are how many hexadecimal digits follow the letter of an escape that holds
// the number of a character.
var gccgoDigits = [256]int{'x': 2, 'u': 4, 'U': 8}

// clone is what gcc appends to the symbol of a copy or a part of a function.
var clone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\.(?:cold|isra|part|constprop|lto_priv|\d+))+$`)
})

// DecodeGccgo returns the name that gccgo has encoded as a symbol:
// "example.com/my-pkg.F" for "example_0com_1my_x2dpkg.F" and its clones. The symbol of a
// function of Go has a dot between its package and its name; ok is false for those of C
// beside it.
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
