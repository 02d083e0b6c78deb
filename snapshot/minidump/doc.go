// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package minidump reads minidumps of Linux and Android: those that Breakpad, Crashpad,
// rust-minidump and LLDB write, of x86-64, x86, arm64 (both of Breakpad's layouts) and arm.
// Importing the package makes [snapshot.Open] open them.
//
// It reads the threads with their names, registers and stacks, the signal, the memory of both
// kinds of memory lists, the modules with their build IDs, and from Breakpad's streams
// /proc/PID/maps, auxv, status and cmdline. If a dump has no list of mappings, its mappings
// are those of its modules, as their files describe them.
//
// A minidump rarely contains the memory of mapped files. This memory is read from the files,
// which are searched for in the same way as those of cores. Only Crashpad's dumps contain
// thread pointers, which thread-local variables and goroutines need.
//
// The package does not open compressed dumps, dumps of Windows or macOS, or dumps in
// big-endian byte order. It unwinds nothing, names nothing and prints nothing.
package minidump
