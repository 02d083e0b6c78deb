// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package readelf prints call frame information byte for byte as GNU readelf
// 2.40 does: its rows as -wF (--debug-dump=frames-interp), its entries and
// instructions as -wf (--debug-dump=frames). Scripts and people who know that
// output can go on using it, and every file on a machine is a test of the
// decoder and the interpreter in package cfi.
//
// What readelf prints wrongly is printed right; DIFFERENCES.md beside this
// file lists these cases, with a test for each that shows both outputs.
// readelf's warnings, which go to standard error, become the errors that the
// functions return; their text and what readelf prints around malformed
// entries is its own.
//
// The package runs no program, and opens no file but the separate debug files
// that [SeparateFiles] is asked for.
package readelf
