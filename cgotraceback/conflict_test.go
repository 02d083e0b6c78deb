// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// TestConflict builds a program in which another package has called runtime.SetCgoTraceback.
func TestConflict(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "conflict")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/conflict")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	run(t, cmd)
	if out := output(t, path); !strings.Contains(out, "panic: cgotraceback: another package has already called runtime.SetCgoTraceback, and only one can: remove one of the two imports") {
		t.Error(out)
	}
}

// TestCgosymbolizer builds a program that also imports cgosymbolizer, with the modules of bench.
func TestCgosymbolizer(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	const name = "github.com/ianlancetaylor/cgosymbolizer"
	download := exec.Command("go", "mod", "download", name)
	download.Dir = "../bench"
	if out, err := download.CombinedOutput(); err != nil {
		t.Skipf("skipped: cgosymbolizer cannot be downloaded: %s", out)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, edit := range map[string]*strings.Replacer{"go.mod": strings.NewReplacer("=> ../", "=> "+root), "go.sum": strings.NewReplacer()} {
		text, err := os.ReadFile(filepath.Join(root, "bench", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(edit.Replace(string(text))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source := "package main\n\nimport (\n\t_ \"github.com/clewdev/clew/cgotraceback\"\n\t_ \"" + name + "\"\n)\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "conflict", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
	run(t, cmd)
	if out := output(t, filepath.Join(dir, "conflict")); !strings.Contains(out, "panic: cgotraceback: the program also imports "+name) {
		t.Error(out)
	}
}

// TestWithoutCgo builds a program without cgo, in which the package does nothing.
func TestWithoutCgo(t *testing.T) {
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(t, cmd)
}
