// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package hosted is a small C library for generated code: Go functions with the names
// that C compilers expect. With it, a session can call the code of an object file that
// prints, allocates and copies before the file is linked.
//
// The functions run in the Go program while the worker waits (see
// session.HostFunction). They access memory through the session, which checks each
// address: an invalid pointer, or a second free, is an error that names the function and
// the address. Allocated memory is in a separate mapping. The code cannot reach the
// allocator's records.
//
// The package does not replace a C library: there is no errno, no locale, no file other
// than the output, and no symbol for data (stdout, environ). Functions that end a process
// end the call instead; the stop has [session.ExitError] or [AbortError].
package hosted
