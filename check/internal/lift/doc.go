// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package lift translates machine instructions into operations on registers and the stack, for
// package check. An operation is as exact as the analysis of stack frames needs: additions to
// the stack pointer, stores and loads of whole registers, and the parts of a jump table.
// Everything else only says which registers and memory change.
//
// Each machine is a file, or a few with its name as prefix, and a row of the table in lift.go.
// The package executes nothing and knows no unwind table.
package lift
