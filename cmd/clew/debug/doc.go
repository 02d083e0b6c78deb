// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debug is the verb debug. It loads object files or a Forth program into a session, and
// starts a front end: the console, with a line editor at a terminal, or a server for debuggers.
package debug
