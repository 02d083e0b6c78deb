// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package trace prints stack traces as text and JSON (the output of clew stack and clew perf),
// and adds them to profiles. It prints the stacks of threads ([Threads]) and goroutines
// ([Goroutines]), the most frequent stacks while a process ran ([Watch]), and the samples of a
// recording ([Recording], [Samples]).
//
// Text is for people and may change from version to version. JSON objects only gain
// members. Names that come from a target are escaped, so that they cannot disturb a
// terminal.
//
// The package walks no stacks and accesses no processes. It opens only the source files of
// [Options.Source].
package trace
