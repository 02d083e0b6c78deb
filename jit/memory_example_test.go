// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package jit_test

import (
	"fmt"
	"log"
	"runtime"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

func ExampleMemory() {
	m, err := jit.NewMemory(4096)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	// Code comes first: it can be written now, and run only after Seal.
	code := map[string][]byte{
		"amd64": {0xb8, 42, 0, 0, 0, 0xc3},                        // mov eax, 42; ret
		"arm64": {0x40, 0x05, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6}, // mov x0, #42; ret
	}[runtime.GOARCH]
	copy(m.Bytes(), code)
	if err := m.Seal(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(call.Code(uintptr(m.Address()), 0))
	// Output: 42
}
