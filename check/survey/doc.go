// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package survey checks the unwind tables of whole programs with package check: those of
// files, of the object files that a process or core has mapped, and of the code that a program
// generated while it ran.
//
// A [Part] is one file, one mapped object, or one source of generated code. A [Survey] checks
// parts on several processors and yields their results in order. A [Baseline] holds findings
// that are known, so that a build fails only for new ones.
//
// The package runs no code, prints nothing, and opens no files.
package survey
