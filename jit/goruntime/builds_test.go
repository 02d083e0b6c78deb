// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// variant is a way to build a program.
type variant struct {
	name     string
	tools    []string
	settings []string // of the environment
	flags    []string
	folder   string // in testdata; "modes" if empty
	host     string // compiler of the program in C, for a library
	emulator string
}

var variants = []variant{
	{name: "plain", settings: []string{"CGO_ENABLED=0"}},
	{name: "pie", settings: []string{"CGO_ENABLED=0"}, flags: []string{"-buildmode=pie"}},
	{name: "stripped", settings: []string{"CGO_ENABLED=0"}, flags: []string{"-ldflags=-s -w", "-trimpath"}},
	{name: "checked pointers", settings: []string{"CGO_ENABLED=0"}, flags: []string{"-gcflags=all=-d=checkptr=2"}},
	{name: "cgo", tools: []string{"gcc"}, settings: []string{"CC=gcc"}},
	{name: "race", tools: []string{"gcc"}, settings: []string{"CC=gcc"}, flags: []string{"-race"}},
	{name: "asan", tools: []string{"gcc"}, settings: []string{"CC=gcc"}, flags: []string{"-asan"}},
	{name: "c-shared", tools: []string{"gcc"}, settings: []string{"CC=gcc"}, flags: []string{"-buildmode=c-shared"}, host: "gcc"},
	{name: "c-archive", tools: []string{"gcc"}, settings: []string{"CC=gcc"}, flags: []string{"-buildmode=c-archive"}, host: "gcc"},
	{name: "musl", tools: []string{"musl-gcc"}, settings: []string{"CC=musl-gcc"}},
	{name: "musl static", tools: []string{"musl-gcc"}, settings: []string{"CC=musl-gcc"}, flags: []string{"-ldflags=-extldflags=-static"}},
	{name: "sonic", tools: []string{"gcc"}, folder: "sonic", flags: []string{"-ldflags=-checklinkname=0"}},
	{name: "arm64", settings: []string{"GOARCH=arm64", "CGO_ENABLED=0"}, emulator: "qemu-aarch64"},
	{name: "arm64 cgo", tools: []string{"aarch64-linux-gnu-gcc"}, settings: []string{"GOARCH=arm64", "CGO_ENABLED=1", "CC=aarch64-linux-gnu-gcc"},
		flags: []string{"-ldflags=-extldflags=-static"}, emulator: "qemu-aarch64"},
}

// Programs that are built in several ways, and with each release, run code and crash in it.
func TestBuilds(t *testing.T) {
	if os.Getenv("CLEW_TEST_RELEASES") != "" || runtime.GOARCH != "amd64" {
		t.Skip("needs the toolchain of this module, on amd64")
	}
	testprogram.RequireTool(t, "go")
	type build struct {
		variant
		release string
	}
	var builds, others []build
	for _, v := range sample.Covering(t, variants, 3, func(v variant) []string { return []string{v.host, v.emulator, v.folder} }) {
		builds = append(builds, build{v, runtime.Version()})
		for _, release := range toolchains {
			if release != runtime.Version() {
				others = append(others, build{v, release})
			}
		}
	}
	for _, b := range append(builds, sample.Of(t, others, 1)...) {
		t.Run(b.name+" "+b.release, func(t *testing.T) {
			for _, tool := range b.tools {
				testprogram.RequireTool(t, tool)
			}
			testBuild(t, b.variant, b.release)
		})
	}
}

func testBuild(t *testing.T, v variant, release string) {
	folder := filepath.Join("testdata", "modes")
	if v.folder != "" {
		folder = filepath.Join("testdata", v.folder)
	}
	path := filepath.Join(t.TempDir(), "program")
	if v.name == "c-archive" {
		path += ".a"
	}
	execute := func(cmd *exec.Cmd, release string) (string, error) {
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "GOROOT=") {
				cmd.Env = append(cmd.Env, e)
			}
		}
		cmd.Env = append(append(cmd.Env, "GOTOOLCHAIN="+release), v.settings...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	compile := exec.Command("go", append(append([]string{"build", "-o", path}, v.flags...), ".")...)
	compile.Dir = folder
	if out, err := execute(compile, release); err != nil {
		if v.folder != "" && strings.Contains(out, "dial tcp") {
			t.Skipf("without network: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	command := []string{path}
	if v.host != "" {
		host := filepath.Join(t.TempDir(), "host")
		if out, err := exec.Command(v.host, "-o", host, filepath.Join(folder, "host", "host.c"), path, "-lpthread").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		command = []string{host}
	}
	if v.emulator != "" {
		command = append([]string{testprogram.RequireTool(t, v.emulator)}, command...)
	}
	if out, err := execute(exec.Command(command[0], command[1:]...), release); err != nil || out != "ok\n" {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := execute(exec.Command(command[0], append(command[1:], "crash")...), release)
	if err == nil {
		t.Errorf("the program did not crash:\n%s", out)
	}
	rest := out
	for _, want := range []string{"panic: on purpose", "engine.inner(", "/src/b.src:20", "jit.outer(", "call.Code("} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Errorf("no %q after those before it in\n%s", want, out)
			break
		}
		rest = after
	}
}
