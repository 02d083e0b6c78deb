// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package jit_test

import (
	"fmt"
	"log"
	"runtime"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// Publishers are imported for their effect, as in
//
//	import _ "github.com/clewdev/clew/jit/gdb"
func ExamplePublish() {
	memory, err := jit.NewMemory(4096)
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close() // after everything was withdrawn

	size := copy(memory.Bytes(), map[string][]byte{
		"amd64": {0xb8, 42, 0, 0, 0, 0xc3},                        // mov eax, 42; ret
		"arm64": {0x40, 0x05, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6}, // mov x0, #42; ret
	}[runtime.GOARCH])
	if err := memory.Seal(); err != nil {
		log.Fatal(err)
	}

	// Neither instruction moves the stack pointer: a leaf.
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	if err != nil {
		log.Fatal(err)
	}
	published, err := jit.Publish(&jit.Code{
		Name:    "answers",
		Address: memory.Address(),
		Text:    memory.Bytes(),
		Functions: []jit.Function{{
			Name: "answer", Size: uint64(size), Unwind: unwind,
			Lines: []jit.Line{{File: "/src/answers.src", Line: 7}},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := published.Failed(); err != nil {
		log.Print("some tools will not see it: ", err)
	}

	// A debugger can break on answer, or on answers.src:7, from here on.
	// Go calls generated code through a function in assembly.
	fmt.Println(call.Code(uintptr(memory.Address()), 0))

	if err := published.Withdraw(); err != nil {
		log.Fatal(err)
	}
	// Output: 42
}
