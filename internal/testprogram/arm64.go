// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ARM64File returns the path of a file of Debian's packages for arm64 that scripts/test has
// downloaded: a program or library that is read, not run. The name is its path, without the first
// slash. If the file is not there, the path is that of no file.
func ARM64File(name string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "no-cache"
	}
	return filepath.Join(cache, "clew", "arm64-files", name)
}

// PassOnARM64 builds the tests of the caller's package for arm64, runs the named ones under
// qemu, and requires each to pass. It builds with cgo if cc names a C compiler. A name may be
// that of a subtest ("TestBacktrace/libgcc_s.so.1") or of an example.
func PassOnARM64(t *testing.T, cc string, names ...string) {
	t.Helper()
	RequireTool(t, "go")
	qemu := RequireTool(t, "qemu-aarch64")
	program := filepath.Join(t.TempDir(), "arm64.test")
	build := exec.Command("go", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "GOFLAGS=", "CGO_ENABLED=0")
	if cc != "" {
		build.Env = append(build.Env, "CGO_ENABLED=1", "CC="+RequireTool(t, cc))
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	var topLevel []string
	for _, name := range names {
		name, _, _ = strings.Cut(name, "/")
		topLevel = append(topLevel, name)
	}
	run := exec.Command(qemu, "-L", "/usr/aarch64-linux-gnu", program, "-test.v",
		"-test.short", // emulation is slow
		"-test.run=^("+strings.Join(slices.Compact(topLevel), "|")+")$")
	out, err := run.CombinedOutput()
	for _, name := range names {
		if !bytes.Contains(out, []byte("--- PASS: "+name+" ")) {
			t.Errorf("%s did not pass", name)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v: %v\n%s", run, err, out)
	}
}
