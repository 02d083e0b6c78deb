// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package cgotraceback_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// variant is a way to build the program.
type variant struct {
	name     string
	tools    []string
	settings []string // of the environment
	flags    []string // of go build
	emulator []string
	plain    bool // without C++
}

var variants = []variant{
	{name: "static", flags: []string{"-ldflags=-extldflags=-static"}, settings: []string{"CC=gcc"}},
	{name: "pie", flags: []string{"-buildmode=pie"}, settings: []string{"CC=gcc"}},
	{name: "musl", tools: []string{"musl-gcc"}, settings: []string{"CC=musl-gcc"}, flags: []string{"-tags=plain"}, plain: true},
	{name: "musl static", tools: []string{"musl-gcc"}, settings: []string{"CC=musl-gcc"}, flags: []string{"-tags=plain", "-ldflags=-extldflags=-static"}, plain: true},
	{name: "clang", tools: []string{"clang"}, settings: []string{"CC=clang", "CXX=clang++"}},
	{name: "no debugging information", settings: []string{"CC=gcc"}, flags: []string{"-ldflags=-w"}},
	{name: "go1.26.0", settings: []string{"CC=gcc", "GOTOOLCHAIN=go1.26.0"}},
	{name: "go1.27.4", settings: []string{"CC=gcc", "GOTOOLCHAIN=go1.27.4"}},
	{name: "arm64", tools: []string{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"},
		settings: []string{"GOARCH=arm64", "CC=aarch64-linux-gnu-gcc", "CXX=aarch64-linux-gnu-g++"}, emulator: []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
	{name: "arm64 static", tools: []string{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"},
		settings: []string{"GOARCH=arm64", "CC=aarch64-linux-gnu-gcc", "CXX=aarch64-linux-gnu-g++"}, flags: []string{"-ldflags=-extldflags=-static"}, emulator: []string{"qemu-aarch64"}},
}

// TestBuilds compares the C frames of crashes in programs that were built in several ways with the
// program's functions.
func TestBuilds(t *testing.T) {
	for _, v := range sample.Covering(t, variants, 3, func(v variant) []string { return v.emulator[:min(len(v.emulator), 1)] }) {
		t.Run(v.name, func(t *testing.T) {
			for _, tool := range v.tools {
				testprogram.RequireTool(t, tool)
			}
			path := build(t, v.settings, v.flags...)
			crash := func(kind string) []string {
				args := append(slices.Clone(v.emulator), path, kind)
				out := output(t, args[0], args[1:]...)
				if kind == "callers" {
					return strings.Split(out, "\n")
				}
				return functions(traced(t, out))
			}
			for kind, inner := range crashes {
				if v.plain && (kind == "abort" || kind == "handler") {
					continue // Debian's musl has no unwind information
				}
				want := append(slices.Clone(inner), outer(false)...)
				if v.plain {
					want = slices.DeleteFunc(want, func(n string) bool { return n == "step::next<int>" })
				}
				if v.name == "no debugging information" { // no inlined calls
					want = slices.DeleteFunc(want, func(n string) bool { return n == "store" })
				}
				got := slices.DeleteFunc(crash(kind), func(n string) bool { return n == "on_signal" })
				want = slices.DeleteFunc(want, func(n string) bool { return n == "on_signal" })
				if !matches(got, want) {
					t.Errorf("%s: C frames %q, want %q", kind, got, want)
				}
			}
			if got := crash("overflow"); len(got) != 32 || got[0] != "overflow" || got[31] != "overflow" {
				t.Errorf("overflow: C frames %q", got)
			}
			if got := strings.Join(crash("callers"), "\n"); !regexp.MustCompile(`(?m)^goCallers .*\nc_outer `).MatchString(got) {
				t.Errorf("C frames are missing in runtime.Callers:\n%s", got)
			}
		})
	}
}

// TestLibraries calls Go code in a library from C.
func TestLibraries(t *testing.T) {
	for _, mode := range []string{"c-shared", "c-archive"} {
		t.Run(mode, func(t *testing.T) {
			// The library's name is that of its path.
			library := build(t, []string{"CC=gcc"}, "-buildmode="+mode)
			host := filepath.Join(t.TempDir(), "host")
			run(t, exec.Command("gcc", "-O2", "-g", "-o", host, "testdata/host/host.c", library, "-lstdc++", "-lpthread"))
			out := output(t, host, "segv")
			if got, want := functions(traced(t, out)), append(slices.Clone(crashes["segv"]), outer(false)...); !slices.Equal(got, want) {
				t.Errorf("C frames %q, want %q:\n%s", got, want, out)
			}
			if !regexp.MustCompile(`\ngoRun\n.*\nhost\n.*\nmain\n`).MatchString(out) {
				t.Errorf("no frames of the host:\n%s", out)
			}
			if out := output(t, host, "callers"); !regexp.MustCompile(`(?m)^goCallers .*\nc_outer .*`).MatchString(out) || !strings.Contains(out, "returned") {
				t.Errorf("C frames are missing in runtime.Callers:\n%s", out)
			}
		})
	}
}
