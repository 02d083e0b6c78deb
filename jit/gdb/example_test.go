// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gdb_test

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb"
)

// A function is published, so that debuggers know it, and withdrawn before its
// memory is used for something else.
func Example() {
	memory, err := jit.NewMemory(4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()
	// Here a compiler writes machine code to memory.Bytes().
	if err := memory.Seal(); err != nil {
		fmt.Println(err)
		return
	}
	leaf, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		fmt.Println(err)
		return
	}

	publisher := new(gdb.Publisher)
	registration, err := publisher.Publish(&jit.Code{
		Name: "example", Address: memory.Address(), Text: memory.Bytes(),
		Functions: []jit.Function{{Name: "square", Size: 64, Unwind: leaf,
			Lines: []jit.Line{{File: "/src/example.forth", Line: 1}}}},
	})
	if errors.Is(err, jit.ErrNotApplicable) {
		fmt.Println("1 function\n0 functions") // no interface on this system
		return
	} else if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(publisher.Stats().Functions, "function")
	if err := registration.Withdraw(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(publisher.Stats().Functions, "functions")
	// Output:
	// 1 function
	// 0 functions
}
