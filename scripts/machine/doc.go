// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command machine runs programs in an emulated arm64 machine with its own kernel, for
// scripts/test-arm64.
//
//	machine run -kernel FILE [-root FOLDER] COMMAND [ARGUMENT ...]
//	machine exec PROGRAM [ARGUMENT ...]
//
// run starts the machine, runs a command on the host, and stops the machine. Within that
// command, exec runs an arm64 program in the machine, and returns its output and exit status:
// it is the argument of `go test -exec`.
//
// The machine has the files of the module at the same paths as the host, a directory for
// temporary files, and the files of -root. Under the names of compilers and binutils it has a
// program that runs those of the host. It can run the host's lldb too, which is connected to
// a port of the machine. It has no disk and no network. All processes run as root.
package main
