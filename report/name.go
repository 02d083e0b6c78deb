// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled is the longest symbol that is demangled, in bytes, and 2 to the
// maxDemangledPower the longest result: a short mangled name can stand for a
// very long one.
const (
	maxMangled        = 4096
	maxDemangledPower = 14
)

// Demangle returns the name of a symbol as the source has it: of C++, Rust
// (without the hash), Swift's and others' names it leaves alone. A version
// ("@GLIBC_2.2") and what a stub is for ("@plt") stay.
func Demangle(symbol string) string {
	if len(symbol) < 3 || len(symbol) > maxMangled || symbol[0] != '_' {
		return symbol
	}
	// The demangler looks at any name that starts with an underscore.
	switch {
	case symbol[1] == 'Z', symbol[1] == 'R', strings.HasPrefix(symbol, "__Z"), strings.HasPrefix(symbol, "_GLOBAL_"):
	default:
		return symbol
	}
	base, suffix := symbol, ""
	if i := strings.IndexByte(symbol, '@'); i > 0 {
		base, suffix = symbol[:i], symbol[i:]
	}
	name, err := demangle.ToString(base, demangle.MaxLength(maxDemangledPower))
	if err != nil {
		return symbol
	}
	return name + suffix
}

// Printable returns a name, a path or a line that came from a file such that
// it can do no harm to a terminal: control characters and bytes that are not
// UTF-8 are written as Go escapes.
func Printable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return printable(s)
		}
	}
	return s
}

func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			size = 1
		}
		if r == '\t' || size > 1 && unicode.IsPrint(r) || r >= ' ' && r < 0x7f {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.Quote(s[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Pattern selects functions by name.
type Pattern struct {
	text string
	glob bool
}

// NewPattern returns the pattern that a user wrote: a symbol, a demangled name
// with or without its parameters, or, where it holds a '*' or a '?', a glob
// over either ('*' stands for any bytes, '?' for any one).
func NewPattern(text string) Pattern {
	return Pattern{text, strings.ContainsAny(text, "*?")}
}

// Match reports whether the pattern selects the function with a symbol.
func (p Pattern) Match(symbol string) bool {
	if p.is(symbol) {
		return true
	}
	if i := strings.IndexByte(symbol, '@'); i > 0 && p.is(symbol[:i]) {
		return true
	}
	name := Demangle(symbol)
	return name != symbol && (p.is(name) || p.is(withoutParameters(name)))
}

func (p Pattern) is(name string) bool {
	if name == "" {
		return false
	}
	return name == p.text || p.glob && glob(p.text, name)
}

// withoutParameters cuts the parameter list off a demangled C++ name.
func withoutParameters(name string) string {
	end := strings.LastIndexByte(name, ')')
	if end < 0 {
		return name
	}
	depth := 0
	for i := end; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}

// glob matches without recursion: at most len(pattern) × len(s) steps.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, retry := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			retry++
			p, i = star+1, retry
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// Locate finds what a user means by a place in a file: an address (0x1160, or
// decimal), a function as [NewPattern] takes it but for globs, or a function
// and an offset (main+0x27, main+39). The error says what the place could mean
// when it means several functions, or none.
func Locate(names Names, place string) (uint64, error) {
	if pc, err := strconv.ParseUint(place, 0, 64); err == nil {
		return pc, nil
	}
	addresses := named(names, place)
	offset := uint64(0)
	if i := strings.LastIndexByte(place, '+'); len(addresses) == 0 && i > 0 {
		// A name can hold a plus itself: "operator+".
		if n, err := strconv.ParseUint(place[i+1:], 0, 64); err == nil {
			offset = n
			addresses = named(names, place[:i])
			place = place[:i]
		}
	}
	switch len(addresses) {
	case 0:
		if _, err := strconv.ParseUint(place, 16, 64); err == nil {
			return 0, fmt.Errorf("no function is called %s; as an address it is 0x%[1]s", place)
		}
		return 0, fmt.Errorf("no function is called %s; 'clew table FILE --func '*%[1]s*'' finds longer names", place)
	case 1:
		return addresses[0] + offset, nil
	}
	list := ""
	for i, a := range addresses {
		if i == 8 {
			list += ", ..."
			break
		}
		if i > 0 {
			list += ", "
		}
		list += hex(a)
	}
	return 0, fmt.Errorf("%d functions are called %s: name one by its address: %s", len(addresses), place, list)
}

// named returns the addresses of the functions with a name: those whose symbol
// it is, else those that the source calls so.
func named(names Names, name string) (addresses []uint64) {
	p := Pattern{text: name}
	exact := false
	for s := range names.Symbols() {
		switch {
		case s.Name == name:
			if !exact {
				addresses, exact = addresses[:0], true
			}
		case exact || !p.Match(s.Name):
			continue
		}
		addresses = append(addresses, s.Address)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
