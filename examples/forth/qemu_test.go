// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package forth_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// TestARM64 runs the package's tests for arm64 under qemu.
func TestARM64(t *testing.T) {
	testprogram.RequireTool(t, "go")
	qemu := testprogram.RequireTool(t, "qemu-aarch64")
	name := filepath.Join(t.TempDir(), "test")
	build := exec.Command("go", "test", "-c", "-o", name, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Not those that look at tables, which are the same here, or run tools.
	passes := []string{
		"TestPrograms", "TestCall", "TestFaults", "TestInterpreterAgrees", "TestRandomPrograms", "TestPublish",
		"TestBesideCollections", "TestPause", "TestProfiled", "Example",
	}
	cmd := exec.Command(qemu, name, "-test.short", "-test.v", "-test.run=^("+strings.Join(passes, "|")+")$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range passes {
		if !bytes.Contains(out, []byte("--- PASS: "+test+" ")) {
			t.Errorf("%s did not pass:\n%s", test, out)
		}
	}
}
