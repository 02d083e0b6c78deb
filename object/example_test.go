// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/clewdev/clew/object"
)

// The example names the entry point of the program that runs it.
func Example() {
	path, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	f, err := object.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	symbols, err := f.FindSymbols([]uint64{f.Entry()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(symbols[0].Name, "_rt0_"))
	_, isGo := f.Go()
	fmt.Println(isGo)
	// Output:
	// true
	// true
}
