// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import "github.com/clewdev/clew/internal/dw"

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

// languages are those of the DW_LANG_ codes.
var languages = map[int64]Language{
	dw.LangC89: C, dw.LangC: C, dw.LangC99: C, dw.LangC11: C,
	dw.LangC17: C, dw.LangC23: C,
	dw.LangCPlusPlus: CPlusPlus, dw.LangCPlusPlus03: CPlusPlus, dw.LangCPlusPlus11: CPlusPlus, dw.LangCPlusPlus14: CPlusPlus,
	dw.LangCPlusPlus17: CPlusPlus, dw.LangCPlusPlus20: CPlusPlus, dw.LangCPlusPlus23: CPlusPlus,
	dw.LangGo:        Go,
	dw.LangRust:      Rust,
	dw.LangD:         D,
	dw.LangFortran77: Fortran, dw.LangFortran90: Fortran, dw.LangFortran95: Fortran, dw.LangFortran03: Fortran,
	dw.LangFortran08: Fortran, dw.LangFortran18: Fortran, dw.LangFortran23: Fortran,
	dw.LangAda83: Ada, dw.LangAda95: Ada, dw.LangAda2005: Ada, dw.LangAda2012: Ada,
	dw.LangPascal83: Pascal,
	dw.LangModula2:  Modula2,
	dw.LangJava:     ZeroBased, dw.LangObjC: ZeroBased, dw.LangObjCPlusPlus: ZeroBased, dw.LangUPC: ZeroBased,
	dw.LangPython: ZeroBased, dw.LangOpenCL: ZeroBased, dw.LangHaskell: ZeroBased, dw.LangOCaml: ZeroBased,
	dw.LangSwift: ZeroBased, dw.LangRenderScript: ZeroBased, dw.LangBLISS: ZeroBased, dw.LangKotlin: ZeroBased,
	dw.LangZig: ZeroBased, dw.LangCrystal: ZeroBased, dw.LangHIP: ZeroBased, dw.LangAssembly: ZeroBased,
	dw.LangCSharp: ZeroBased, dw.LangMojo: ZeroBased, dw.LangMipsAssembler: ZeroBased,
	dw.LangCobol74: OneBased, dw.LangCobol85: OneBased, dw.LangPLI: OneBased, dw.LangModula3: OneBased,
	dw.LangJulia: OneBased,
}

// languageOf returns the language of a DW_LANG_ code.
func languageOf(code int64) Language { return languages[code] }

// LowerBound returns the default lower bound of the arrays of a language (DWARF 5 §5.13,
// table 7.17). ok is false where the language is not known.
func LowerBound(l Language) (bound int64, ok bool) {
	switch l {
	case OtherLanguage:
		return 0, false
	case Fortran, Ada, Pascal, Modula2, OneBased:
		return 1, true
	}
	return 0, true
}

// HasScopes reports whether qualified names contain namespaces and structures, as in "ns::f".
func HasScopes(l Language) bool { return l == CPlusPlus || l == Rust }

// qualifies reports whether a qualified name can contain the name of an enclosing scope.
// Fortran has modules; an unknown language may have anything.
func qualifies(l Language) bool { return l != C && l != Go && l != D }
