// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

// Language is the source language of a unit, as far as it matters to how names are
// made, where arrays begin and how values are printed.
type Language uint8

const (
	OtherLanguage Language = iota // not known
	C
	CPlusPlus
	Go
	Rust
	D
	Fortran
	Ada
	Pascal
	Modula2
	ZeroBased // any other language whose arrays begin at 0: Java, Swift, OCaml
	OneBased  // any other language whose arrays begin at 1: COBOL, PL/I, Julia
)

// languages are the DW_LANG_ codes (DWARF 5 table 7.17, and dwarfstd.org's list of the
// codes since).
var languages = map[int64]Language{
	0x01: C, 0x02: C, 0x0c: C, 0x1d: C, 0x2c: C, 0x3e: C, // C89, C, C99, C11, C17, C23
	0x04: CPlusPlus, 0x19: CPlusPlus, 0x1a: CPlusPlus, 0x21: CPlusPlus, 0x2a: CPlusPlus, 0x2b: CPlusPlus, 0x3a: CPlusPlus, // C++98 to C++23
	0x16: Go,
	0x1c: Rust,
	0x13: D,
	0x07: Fortran, 0x08: Fortran, 0x0e: Fortran, 0x22: Fortran, 0x23: Fortran, 0x2d: Fortran, 0x3f: Fortran, // Fortran 77 to 2023
	0x03: Ada, 0x0d: Ada, 0x2e: Ada, 0x2f: Ada, // Ada 83, 95, 2005, 2012
	0x09: Pascal,
	0x0a: Modula2,
	0x0b: ZeroBased, 0x10: ZeroBased, 0x11: ZeroBased, 0x12: ZeroBased, // Java, Objective-C, Objective-C++, UPC
	0x14: ZeroBased, 0x15: ZeroBased, 0x18: ZeroBased, // Python, OpenCL, Haskell
	0x1b: ZeroBased, 0x1e: ZeroBased, 0x24: ZeroBased, 0x25: ZeroBased, // OCaml, Swift, RenderScript, BLISS
	0x26: ZeroBased, 0x27: ZeroBased, 0x28: ZeroBased, // Kotlin, Zig, Crystal
	0x30: ZeroBased, 0x31: ZeroBased, 0x32: ZeroBased, 0x33: ZeroBased, // HIP, assembly, C#, Mojo
	0x05: OneBased, 0x06: OneBased, 0x0f: OneBased, // COBOL 74, COBOL 85, PL/I
	0x17: OneBased, 0x1f: OneBased, // Modula-3, Julia
	0x8001: ZeroBased, // the GNU assembler's own code
}

// languageOf returns the language of a DW_LANG_ code.
func languageOf(code int64) Language { return languages[code] }

// lowerBound returns where the arrays of a language begin that do not say it; false where
// the language is not known (DWARF 5 §5.13, table 7.17).
func (l Language) lowerBound() (int64, bool) {
	switch l {
	case OtherLanguage:
		return 0, false
	case Fortran, Ada, Pascal, Modula2, OneBased:
		return 1, true
	}
	return 0, true
}

// hasScopes reports whether names stand in namespaces and structures, as in
// "ns::f".
func (l Language) hasScopes() bool { return l == CPlusPlus || l == Rust }

// qualifies reports whether the name of an enclosing scope can be a part of a name:
// Fortran has modules, and of a language that is not known it is not known.
func (l Language) qualifies() bool { return l != C && l != Go && l != D }
