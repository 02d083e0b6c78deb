// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package region_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildWalk builds the program in testdata/walk.
func buildWalk(t *testing.T, goarch, compiler string) string {
	t.Helper()
	gcc, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("skipped: %s is not installed", compiler)
	}
	dir := t.TempDir()
	archive, program := filepath.Join(dir, "publish.a"), filepath.Join(dir, "walk")
	c := exec.Command("go", "build", "-buildmode=c-archive", "-o", archive, ".")
	c.Dir = "testdata/walk"
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "GOARCH="+goarch, "CC="+gcc)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	c = exec.Command(gcc, "-g", "-Wall", "-rdynamic", "-o", program, "testdata/walk/walk.c", archive, "-lpthread", "-ldl")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	return program
}

// Walks through generated code that only regions describe reach main: with the C
// runtime's unwinder, with gdb, and, in package jit/libunwind, with Clew.
func TestWalk(t *testing.T) {
	program := buildWalk(t, "amd64", "gcc")
	const want = "libgcc: stop_here inner outer through main\n"
	out, err := exec.Command(program).CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v, got %q, want %q", err, out, want)
	}

	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("skipped: gdb is not installed")
	}
	out, err = exec.Command("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
		"-ex", "handle SIGURG nostop noprint", "-ex", "break stop_here", "-ex", "run", "-ex", "bt", program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	frame := regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(\S+)`)
	var names []string
	for _, m := range frame.FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	if got := strings.Join(names, " ") + " "; !strings.HasPrefix(got, "stop_here inner outer through main ") {
		t.Errorf("gdb: %s\n%s", got, out)
	}
}

func TestWalkARM64(t *testing.T) {
	if _, err := exec.LookPath("qemu-aarch64"); err != nil {
		t.Skip("skipped: qemu-aarch64 is not installed")
	}
	program := buildWalk(t, "arm64", "aarch64-linux-gnu-gcc")
	const want = "libgcc: stop_here inner outer through main\n"
	out, err := exec.Command("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program).CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v, got %q, want %q", err, out, want)
	}
}
