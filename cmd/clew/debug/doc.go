// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package debug is the verb debug: it loads object files or a Forth program into a session, and
// hands the session to the console, to a terminal's editor, or to a server for debuggers.
package debug
