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
	"github.com/clewdev/clew/value/print"
)

const (
	maxMangled        = 4096 // bytes of a symbol; longer ones are not demangled
	maxDemangledPower = 14   // log2 of the length of a result; a short symbol can stand for a very long name
)

// Demangle returns the name that a symbol of C++, Rust (without the hash) or D has in the
// source. It returns other symbols unchanged. A version ("@GLIBC_2.2") and the suffix of a
// stub ("@plt") stay.
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
	base, _, _ := strings.Cut(symbol, "@")
	suffix := symbol[len(base):]
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

// DemangleFunction returns the name of a C++ function without its parameters and result
// type. ok is false if the symbol is not mangled.
func DemangleFunction(symbol string) (name string, ok bool) {
	if len(symbol) > maxMangled {
		return "", false
	}
	symbol, _, _ = strings.Cut(symbol, "@")
	name, err := demangle.ToString(symbol, demangle.NoParams, demangle.MaxLength(maxDemangledPower))
	return name, err == nil
}

// Demangled is a Symbolizer that demangles the names of another Symbolizer, as gdb does when
// it prints pointers. It is safe for concurrent use if the other one is.
type Demangled struct{ print.Symbolizer }

// Symbol implements print.Symbolizer.
func (d Demangled) Symbol(address uint64) (name string, offset uint64, ok bool) {
	name, offset, ok = d.Symbolizer.Symbol(address)
	return DemangleCode(name), offset, ok
}

// DemangleCode returns the result of Demangle without the function's result type, as gdb
// prints it for code with debugging information.
func DemangleCode(symbol string) string {
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

// SymbolName returns the name that the function of s has in the source. name is the name of
// s without suffixes of the linker.
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

// CallName returns the source name for a linkage name: of the function of symbol s, or of a
// call that was inlined into it. Names from Go's own table stay unchanged: they are source
// names, and a name that looks mangled was obfuscated.
func CallName(s *object.Symbol, name string) string {
	if s.Source == object.GoSymbols {
		return name
	}
	return Demangle(name)
}

// WithoutParameters returns a demangled C++ name without its parameter list, if it has one.
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
