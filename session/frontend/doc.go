// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package frontend has the parts that front ends of a debug session share. These are the
// frames of a stop as users count them, the variables in scope, convenience variables and
// the history of values, and the table of breakpoints with their conditions; also names of
// addresses, source lines, descriptions of signals, and the names that complete an
// expression. Packages console and dap translate them to commands and to requests of
// editors.
//
// The package prints nothing, knows no protocol and starts no goroutine. Only the
// goroutine that controls the session may use its types, unless they say otherwise.
package frontend
