// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import "strings"

// Pattern selects functions by name.
type Pattern struct {
	text string
	glob bool
}

// NewPattern returns the pattern for text: a symbol, a demangled name with or without its
// parameters, or, if it contains '*' (any bytes) or '?' (any byte), a glob over these.
func NewPattern(text string) Pattern {
	return Pattern{text, strings.ContainsAny(text, "*?")}
}

// ExactPattern returns the pattern for one name, which may contain '*'.
func ExactPattern(name string) Pattern { return Pattern{text: name} }

// Match reports whether the pattern selects the function with a symbol.
func (p Pattern) Match(symbol string) bool {
	unversioned, _, _ := strings.Cut(symbol, "@")
	if p.is(symbol) || p.is(unversioned) {
		return true
	}
	name := Demangle(symbol)
	return name != symbol && (p.is(name) || p.is(WithoutParameters(name)))
}

func (p Pattern) is(name string) bool {
	return name != "" && (name == p.text || p.glob && glob(p.text, name))
}

// glob reports whether s matches pattern, in at most len(pattern) × len(s) steps.
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
