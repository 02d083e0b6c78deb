// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile_test

import (
	"fmt"

	"github.com/clewdev/clew/stack/codefile"
)

// Parse recognizes the format of a file by its content.
func ExampleParse() {
	_, m, err := codefile.Parse("perf-4711.map", []byte("7f0000001000 20 fib\n7f0000001020 40 hello world\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := m.Find(0x7f0000001024)
	fmt.Printf("%s+%#x\n", s.Name, 0x7f0000001024-s.Address)
	// Output:
	// hello world+0x4
}
