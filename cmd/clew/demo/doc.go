// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package demo is the program that `clew demo` shows. It compiles labyrinth.fth to machine code and
// waits deep in it. It is the executable of clew, started again, so it needs no other file. It
// prints nothing.
package demo
