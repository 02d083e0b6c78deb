// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package codefile finds, checks and reads the files in which a program tells perf
// of the code that it generated: jitdumps and perf maps. It is the one place that
// knows where such files lie, whose they have to be and how much is read of them:
// live processes, cores and recordings are all looked up by it. The formats
// themselves are package jit/perf's.
//
// A jitdump is found by the mapping that its writer made of it, a perf map by the
// process ID that is in its name, both as the process sees its file system. Since
// the files stay and the IDs come again, and since /tmp is everybody's, what
// belongs to another process is refused with an error that wraps snapshot.ErrOtherProcess.
//
// No file is made or changed, and nothing of a process is read.
package codefile
