// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package jit_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// TestMemoryARM64 runs TestMemory for arm64, under qemu: that code is written
// anew at an address where it ran, and that what runs then is the new one.
func TestMemoryARM64(t *testing.T) {
	testprogram.RequireTool(t, "go")
	qemu := testprogram.RequireTool(t, "qemu-aarch64")
	name := filepath.Join(t.TempDir(), "test")
	build := exec.Command("go", "test", "-c", "-o", name, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(qemu, name, "-test.v", "-test.run=^(TestMemory|TestMemoryFaults|TestMemorySizes|ExampleMemory)$").CombinedOutput()
	if err != nil || bytes.Count(out, []byte("--- PASS: ")) != 4 {
		t.Errorf("%v\n%s", err, out)
	}
}
