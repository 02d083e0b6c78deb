// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package sigchld keeps SIGCHLD from a program that traces others.
//
// Each thread that stops sends its tracer's process a SIGCHLD, and the Go
// runtime's handler takes it on another thread, on the processor that the
// traced threads need: of the pause of 65 threads a third, of a single step in a
// debug session more than half. SA_NOCLDSTOP asks the kernel not to. It changes
// nothing about children that exit. A program that has os/signal tell it of
// children that stop misses those that do so while the flag is set.
package sigchld
