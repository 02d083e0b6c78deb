// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package call_test

import (
	"runtime"
	"testing"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// TestCode calls code that uses most of its stack, on goroutines whose stacks are small.
func TestCode(t *testing.T) {
	m, err := jit.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	copy(m.Bytes(), map[string][]byte{
		// lea rcx, [rsp-64000]; mov [rcx], rdi; mov rax, [rcx]; inc rax; ret
		"amd64": {0x48, 0x8d, 0x8c, 0x24, 0x00, 0x06, 0xff, 0xff, 0x48, 0x89, 0x39, 0x48, 0x8b, 0x01, 0x48, 0xff, 0xc0, 0xc3},
		// sub x1, sp, #15, lsl #12; str x0, [x1]; ldr x0, [x1]; add x0, x0, #1; ret
		"arm64": {0xe1, 0x3f, 0x40, 0xd1, 0x20, 0x00, 0x00, 0xf9, 0x20, 0x00, 0x40, 0xf9, 0x00, 0x04, 0x00, 0x91, 0xc0, 0x03, 0x5f, 0xd6},
	}[runtime.GOARCH])
	if err := m.Seal(); err != nil {
		t.Fatal(err)
	}
	results := make(chan uintptr)
	for i := range uintptr(100) {
		go func() { results <- call.Code(uintptr(m.Address()), i) }()
	}
	sum := uintptr(0)
	for range 100 {
		sum += <-results
	}
	if sum != 5050 {
		t.Errorf("%d", sum)
	}
}
