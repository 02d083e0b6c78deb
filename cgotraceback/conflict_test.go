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

// TestCgosymbolizer builds a program with a module of the name of cgosymbolizer.
func TestCgosymbolizer(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile("testdata/conflict/other/other.go")
	if err != nil {
		t.Fatal(err)
	}
	const module, name = "github.com/clewdev/clew", "github.com/ianlancetaylor/cgosymbolizer"
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "other"), 0o777); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"go.mod": strings.Replace(string(requirements), "module "+module, "module conflict", 1) + "require (\n" + module + " v0.0.0\n" + name + " v0.0.0\n)\n" +
			"replace (\n" + module + " => " + root + "\n" + name + " => ./other\n)\n",
		"go.sum":         string(sums),
		"main.go":        "package main\n\nimport (\n\t_ \"" + module + "/cgotraceback\"\n\t_ \"" + name + "\"\n)\n\nfunc main() {}\n",
		"other/go.mod":   "module " + name + "\n",
		"other/other.go": string(other),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-mod=mod", "-o", "conflict", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
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
