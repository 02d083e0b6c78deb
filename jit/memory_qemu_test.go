// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package jit_test

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// TestMemoryARM64 runs TestMemory for arm64, under qemu: after new code is written at an
// address where code ran, the new code runs.
func TestMemoryARM64(t *testing.T) {
	testprogram.PassOnARM64(t, "", "TestMemory", "TestMemoryFaults", "TestMemorySizes", "ExampleMemory")
}
