// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package readelf prints call frame information byte for byte as GNU readelf 2.40 does: rows
// as with -wF (--debug-dump=frames-interp), and entries and instructions as with -wf
// (--debug-dump=frames). Scripts and people that know this output can keep using it, and every
// file on a machine is a test of the decoder and the interpreter in package cfi.
//
// The package corrects errors of readelf. DIFFERENCES.md in this folder lists them, each with
// a test that shows both outputs. Errors that the functions return correspond to readelf's
// warnings on standard error, but have other texts. The output for malformed entries differs
// too.
//
// The package runs no programs. Only [SeparateFiles] opens files.
package readelf
