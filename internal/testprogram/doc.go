// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package testprogram builds and runs the programs that Clew's tests examine. Their sources
// are in the directories programs, asm and hostile. The first lines of each source say what
// it is for and how it is built.
//
// If a compiler or an assembler is not installed, the package skips the test, with a message
// that scripts/test lists ("skipped: gcc is not installed"). It does not check results:
// tests compare with gdb, readelf and others themselves.
package testprogram
