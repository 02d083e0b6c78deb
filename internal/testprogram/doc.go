// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package testprogram builds and runs the programs that Clew's tests look at.
// Their sources are in programs, asm and hostile beside it, each saying in its
// first lines what it is for and how it is built.
//
// Where a compiler or assembler is absent the test is skipped, in the form that
// scripts/test lists ("skipped: gcc is not installed"). The package never
// decides whether an answer is right: tests compare with gdb, readelf and
// others themselves.
package testprogram
