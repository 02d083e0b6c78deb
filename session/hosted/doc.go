// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package hosted is a small C library for generated code: Go functions under the
// names that C compilers expect, so that an object file that prints, allocates
// and copies can be called by a session before it is linked with anything.
//
// The functions run in the Go program while the worker waits (see
// session.HostFunction). They look at every byte through the session's guarded
// memory: a bad pointer is an error that names the function and the address,
// and so is memory that is freed twice. What is allocated comes from a mapping of
// the library's own, whose book-keeping the code cannot reach.
//
// The package is no replacement for a C library: there is no errno, no locale,
// no file but the output, and nothing that needs the address of data (stdout,
// environ). Functions that end a process end the call instead: [session.ExitError] and
// [AbortError] are what the stop then tells.
package hosted
