// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/clewdev/clew/internal/dlang"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// maxMangled is the longest symbol that is demangled, in bytes, and 2 to the
// maxDemangledPower the longest result: a short mangled name can stand for a
// very long one.
const (
	maxMangled        = 4096
	maxDemangledPower = 14
)

// Demangle returns the name of a symbol as the source has it: of C++, Rust
// (without the hash) and D; Swift's and others' names it leaves alone. A version
// ("@GLIBC_2.2") and what a stub is for ("@plt") stay.
func Demangle(symbol string) string {
	if len(symbol) < 3 || len(symbol) > maxMangled || symbol[0] != '_' {
		return symbol
	}
	// The demangler looks at any name that starts with an underscore.
	switch {
	case symbol[1] == 'Z', symbol[1] == 'R', symbol[1] == 'D', strings.HasPrefix(symbol, "_GLOBAL_"):
	default:
		return symbol
	}
	base, suffix := symbol, ""
	if i := strings.IndexByte(symbol, '@'); i > 0 {
		base, suffix = symbol[:i], symbol[i:]
	}
	if symbol[1] == 'D' {
		if name, ok := dlang.Demangle(base); ok {
			return name + suffix
		}
		return symbol
	}
	name, err := demangle.ToString(base, demangle.MaxLength(maxDemangledPower))
	if err != nil {
		return symbol
	}
	return name + suffix
}

// demangleFunction returns the name of a function of C++ without its parameters and what
// it returns; ok is false for what is no mangled name.
func demangleFunction(symbol string) (name string, ok bool) {
	if len(symbol) > maxMangled {
		return "", false
	}
	symbol, _, _ = strings.Cut(symbol, "@")
	name, err := demangle.ToString(symbol, demangle.NoParams, demangle.MaxLength(maxDemangledPower))
	return name, err == nil
}

// demangleCode returns the name of code as gdb has it with debugging information: that
// which Demangle returns, without what the function returns.
func demangleCode(symbol string) string {
	if len(symbol) > maxMangled || !strings.HasPrefix(symbol, "_Z") {
		return Demangle(symbol)
	}
	a, err := demangle.ToAST(symbol)
	if err != nil {
		return Demangle(symbol)
	}
	if t, ok := a.(*demangle.Typed); ok {
		if f, ok := t.Type.(*demangle.FunctionType); ok && f.Return != nil {
			f.Return = nil
			return demangle.ASTToString(a, demangle.MaxLength(maxDemangledPower))
		}
	}
	return Demangle(symbol)
}

// symbolName returns the name of a function as the source has it, from the symbol of a
// frame without what a linker appended.
func symbolName(s *object.Symbol, name string) string {
	if s.Gccgo {
		if decoded, ok := decodeGccgo(name); ok {
			return decoded
		}
	}
	if s.GNAT {
		if decoded := value.AdaName(name); decoded[0] != '<' {
			return decoded
		}
	}
	return calledIn(s, name)
}

// calledIn returns the name of a function, or of a call that was inlined into it, whose
// frame has a symbol: that of Go's own table is the source's, and what looks mangled in
// it was garbled, so that all of them stay as they are.
func calledIn(s *object.Symbol, name string) string {
	if s.Source == object.GoSymbols {
		return name
	}
	return Demangle(name)
}

// Printable returns a name, a path or a line that came from a file such that
// it can do no harm to a terminal: control characters, bidirectional ones and others that
// are not printable, and bytes that are not UTF-8 are written as Go escapes.
func Printable(s string) string { return printable.Text(s) }

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
	return name != symbol && (p.is(name) || p.is(WithoutParameters(name)))
}

func (p Pattern) is(name string) bool {
	if name == "" {
		return false
	}
	return name == p.text || p.glob && glob(p.text, name)
}

// WithoutParameters cuts the parameter list off a demangled C++ name, which may
// have none.
func WithoutParameters(name string) string {
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
