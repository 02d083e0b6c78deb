// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool skips the test if a program is not installed.
func tool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("skipped: %s is not installed", name)
	}
}

// run returns the standard output of a command that must succeed.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	tool(t, name)
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// write makes a file in a new directory and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a file of the machine, and skips the test if it is absent.
func open(t testing.TB, path string) *File {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// cross returns the C libraries of other machines that are installed.
func cross(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("/usr/*-linux-gnu*/lib*/libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Skip("skipped: libc6-arm64-cross is not installed")
	}
	return list
}

// command returns the path of an installed program.
func command(t testing.TB, name string) string {
	t.Helper()
	tool(t, name)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	return path
}
