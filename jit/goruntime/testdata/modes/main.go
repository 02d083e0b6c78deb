// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Modes publishes and runs generated code. It is built in several modes.
package main

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/jit/goruntime/testdata/exercise"
)

// run prints "ok", or ends the program. With a library, the host program's arguments are in os.Args.
func run(beside func()) {
	if err := exercise.Run(beside, len(os.Args) > 1); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func main() { run(beside) }
