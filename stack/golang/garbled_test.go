// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package golang_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// garbledMagic replaces 0xfffffff1. Like it, it fits the byte in the runtime's check.
const garbledMagic = 0xe7

// garble changes a Go program without symbols as garble (mvdan.cc/garble) does: a table of
// functions with another magic, which the program expects, and hashes for the names of files
// and functions, one of which looks like C++'s. garble itself recompiles the standard library,
// which takes a minute of processor time.
func garble(t *testing.T, path string) string {
	t.Helper()
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := object.NewFile(slices.Clone(program), path)
	if err != nil {
		t.Fatal(err)
	}
	check, ok := f.GoFunctionNamed("runtime.moduledataverify1")
	if !ok {
		t.Fatal("the runtime does not verify its tables")
	}
	code := make([]byte, check.End-check.Entry)
	if err := f.ReadMemory(code, check.Entry); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(program, code)
	changed := 0
	for k := 0; k < len(code); {
		i, err := x86asm.Decode(code[k:], 64)
		if err != nil {
			t.Fatal(err)
		}
		if k += i.Len; i.Op == x86asm.CMP && i.Args[1] == x86asm.Imm(-15) {
			program[at+k-1] = garbledMagic
			changed++
		}
	}
	for _, s := range f.Sections() {
		if s.Name == ".gopclntab" {
			program[s.Offset] = garbledMagic
			changed++
		}
	}
	if changed != 2 {
		t.Fatalf("the magic stands in %d places, expected the table and the check", changed)
	}
	for from, to := range map[string]string{
		"main.recurse": "_ZN1a1bEv",
		"main.fault":   "main.X_9fZ",
		"github.com/clewdev/clew/internal/testprogram/programs/states/main.go": "Baln7Y_.go",
	} {
		if n := bytes.Count(program, []byte(from+"\x00")); n != 1 {
			t.Fatalf("%s stands in %d places", from, n)
		}
		program = bytes.Replace(program, []byte(from), []byte(to+strings.Repeat("\x00", len(from)-len(to))), 1)
	}
	garbled := filepath.Join(t.TempDir(), "garbled")
	if err := os.WriteFile(garbled, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return garbled
}

// tooNew matches garble's error for a release of Go that is newer than it: it patches the
// linker of each release.
var tooNew = regexp.MustCompile(`Go version "([^"]+)" is too new`)

// builtByGarble returns a program built by garble, which keeps only the names of the runtime,
// and neither symbols nor the version.
func builtByGarble(t *testing.T, flags ...string) string {
	t.Helper()
	goTool := testprogram.RequireTool(t, "go")
	dir := t.TempDir()
	garble, program := filepath.Join(dir, "garble"), filepath.Join(dir, "garbled")
	if out, err := exec.Command(goTool, "build", "-modfile=../../scripts/tools/go.mod", "-o", garble, "mvdan.cc/garble").CombinedOutput(); err != nil {
		t.Logf("%s", out)
		t.Skip("skipped: garble is not installed")
	}
	cmd := exec.Command(garble, append(flags, "build", "-o", program, "../../internal/testprogram/programs/states")...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		if m := tooNew.FindSubmatch(out); m != nil {
			t.Skipf("unsupported: garble does not support %s", m[1])
		}
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, ok := f.Go(); !ok || strings.HasPrefix(info.Version, "go") {
		t.Fatalf("garble has left the version, %q", info.Version)
	}
	return program
}

// The goroutines of a garbled program equal its own dump on SIGQUIT, with the remaining names.
func TestGarbled(t *testing.T) {
	for _, test := range []struct {
		name    string
		program func(t *testing.T) string
		frame   string // of the recursion
	}{
		{"by hand", func(t *testing.T) string {
			return garble(t, testprogram.Build(t, "states", "-trimpath", "-ldflags=-s -w"))
		}, "\n_ZN1a1bEv("},
		{"by garble", func(t *testing.T) string { return builtByGarble(t) }, "\nmain."},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := testprogram.Start(t, test.program(t))
			p.Settle(t)
			list := goroutinesOf(t, takeGoroutines(t, p.PID, true), golang.Options{System: true})
			got := make(map[uint64]said)
			for i := range list {
				g := &list[i]
				got[g.ID] = described(g)
				if g.Stack.Reason != unwind.EndOfStack {
					t.Errorf("goroutine %d: %v: %v", g.ID, g.Stack.Reason, g.Stack.Err)
				}
			}
			dump := p.Quit()
			compareGoroutines(t, "copied", got, onQuit(t, dump), list)
			if n := strings.Count(dump, test.frame); n < 10 || strings.Contains(dump, "/main.go:") || strings.Contains(dump, "main.recurse") {
				t.Errorf("the program is not garbled, it has %d garbled frames:\n%s", n, dump)
			}
		})
	}
}

// garble -tiny also removes the names of the runtime's functions: its goroutines are unknown,
// which is reported, and its threads are walked.
func TestGarbledTiny(t *testing.T) {
	path := builtByGarble(t, "-tiny")
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := goruntime.New(f, 0); !errors.Is(err, goruntime.ErrUnknownVersion) || !strings.Contains(err.Error(), "garble -tiny") {
		t.Errorf("the runtime: %v", err)
	}
	p := testprogram.Start(t, path)
	p.Settle(t)
	for _, s := range stacktest.Stacks(t, stacktest.Take(t, p.PID)) {
		if len(s.Frames) < 2 {
			t.Errorf("%d frames: %v", len(s.Frames), s.Err)
		}
	}
}
