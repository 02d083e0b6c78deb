// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Language is the source language of a unit, as far as it determines names, the lower bounds
// of arrays and how values are printed.
type Language = entry.Language

// The languages.
const (
	OtherLanguage = entry.OtherLanguage // not known
	C             = entry.C
	CPlusPlus     = entry.CPlusPlus
	Go            = entry.Go
	Rust          = entry.Rust
	D             = entry.D
	Fortran       = entry.Fortran
	Ada           = entry.Ada
	Pascal        = entry.Pascal
	Modula2       = entry.Modula2
	ZeroBased     = entry.ZeroBased // any other language whose arrays begin at 0: Java, Swift, OCaml
	OneBased      = entry.OneBased  // any other language whose arrays begin at 1: COBOL, PL/I, Julia
)

// AdaName returns the name in the source that GNAT encoded: "pkg__child__proc" is
// pkg.child.proc, "pkg__Oadd" is pkg."+", "_ada_main" is main, and "pkg__workerTB" is the
// body of the task pkg.worker. It returns a name that GNAT made for itself between "<" and
// ">", as in gdb.
func AdaName(encoded string) string { return spelling.Ada(encoded) }
