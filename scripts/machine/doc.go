// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command machine runs programs in an emulated arm64 machine with a kernel of
// its own, for scripts/test-arm64.
//
//	machine run -kernel FILE [-root FOLDER] COMMAND [ARGUMENT ...]
//	machine exec PROGRAM [ARGUMENT ...]
//
// run starts the machine, runs a command here, and ends the machine. In that
// command, exec runs an arm64 program in the machine, with its output and exit
// status: it is what `go test -exec` is given.
//
// The machine has the module's files at the paths that they have here, a folder
// for temporary files, what -root has, and names for compilers and binutils by
// which it has the host's run; so it can with the host's lldb, which is connected
// to a port there. It has no disk and no network; a process there is root.
package main
