// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package frontend holds what every front end of a debug session needs: the frames
// of a stop as users count them, the variables that each of them sees, convenience
// variables and the history of values, names of addresses, source lines and the names
// that complete an expression. Packages console and dap translate it to commands and
// to requests of editors.
//
// The package prints nothing, knows no protocol and starts no goroutine. Its types
// belong to the goroutine that controls the session, unless they say otherwise.
package frontend
