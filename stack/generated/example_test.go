// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated_test

import (
	"fmt"
	"log"

	"github.com/clewdev/clew/stack/generated"
)

// Print the functions in a perf map.
func Example() {
	source, err := generated.Read("perf-4711.map", []byte("7f0000001000 20 fib\n7f0000001020 8 add\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(source.Kind, source.Entries)
	for f := range source.Functions() {
		fmt.Printf("%#x %d %s\n", f.Start, f.Size, f.Name)
	}
	// Output:
	// perf map 2
	// 0x7f0000001000 32 fib
	// 0x7f0000001020 8 add
}
