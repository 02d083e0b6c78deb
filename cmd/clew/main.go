// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The command clew finds the way back through the frames of native code: it prints the unwind tables
// of files and the stacks of processes. Each verb has a file in this folder, which parses its flags
// and calls the packages. Package input opens the files, and package output prints messages and
// decides the exit code.
package main

import "os"

func main() {
	if isDemo() {
		return
	}
	os.Exit(run(os.Args[1:]))
}
