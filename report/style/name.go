// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/clewdev/clew/internal/dlang"
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

// DemangleFunction returns the name of a function of C++ without its parameters and what
// it returns; ok is false if the symbol is not mangled.
func DemangleFunction(symbol string) (name string, ok bool) {
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

// SymbolName returns the name of a function as the source has it, from the symbol of a
// frame without what a linker appended.
func SymbolName(s *object.Symbol, name string) string {
	if s.Gccgo {
		if decoded, ok := DecodeGccgo(name); ok {
			return decoded
		}
	}
	if s.GNAT {
		if decoded := value.AdaName(name); decoded[0] != '<' {
			return decoded
		}
	}
	return CallName(s, name)
}

// CallName returns the name of a function, or of a call that was inlined into it, whose
// frame has a symbol: that of Go's own table is the source's, and what looks mangled in
// it was garbled, so that all of them stay as they are.
func CallName(s *object.Symbol, name string) string {
	if s.Source == object.GoSymbols {
		return name
	}
	return Demangle(name)
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
