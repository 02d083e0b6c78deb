// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package sigchld sets SA_NOCLDSTOP for SIGCHLD in a program that traces others.
//
// Each thread that stops sends a SIGCHLD to its tracer's process. The Go runtime handles it
// on another thread, on the processor that the traced threads need: this is a third of the
// pause of 65 threads, and more than half of a single step in a debug session. SA_NOCLDSTOP
// stops these signals. Children that exit still send one. While the flag is set, a program
// that watches for stopped children with os/signal misses them.
package sigchld
