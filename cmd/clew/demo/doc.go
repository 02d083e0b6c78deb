// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package demo is the program that `clew demo` shows: it compiles labyrinth.fth
// to machine code and waits deep in it. The program is the command clew itself,
// started again, so that nothing else is needed to run it. It prints nothing.
package demo
