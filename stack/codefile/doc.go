// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package codefile finds, checks and reads the files that describe a program's
// generated code to perf: jitdumps and perf maps. It decides where such files
// are, which owner they must have and how much of them is read, for live
// processes, cores and recordings. Package jit/perf has the formats themselves.
//
// A jitdump is found by its mapping in the process that writes it, and a perf map by the
// process ID in its name, both in the file system of that process. Such files outlive
// their process, process IDs are reused, and every user can write to /tmp. A file of
// another process is therefore refused with an error that wraps
// snapshot.ErrOtherProcess.
//
// The package creates and changes no file, and reads nothing from a process.
package codefile
