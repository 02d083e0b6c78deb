// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package compact writes the tables that package cgotraceback's C code reads in signal
// handlers: unwind rules, functions and lines of one file. tables.h describes their layout.
// A table is one block of bytes without pointers, so that it can be in mapped memory, at any
// address.
//
// The package makes tables only. It opens no file, and publishes nothing.
package compact
