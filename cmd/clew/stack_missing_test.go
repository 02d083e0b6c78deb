// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// A library was replaced while a process has it mapped, and the user may not open the mapped file.
// The frames are named from memory, with the reason, until a cache has a file of the same build ID.
func TestStackOfReplacedLibrary(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	unprivileged := func(cmd *exec.Cmd) *exec.Cmd { return cmd }
	if os.Getuid() == 0 {
		testprogram.RequireTool(t, "setpriv")
		unprivileged = func(cmd *exec.Cmd) *exec.Cmd {
			without := exec.Command("setpriv", append([]string{"--bounding-set", "-sys_admin,-checkpoint_restore", "--", cmd.Path}, cmd.Args[1:]...)...)
			return without
		}
	}
	dir := t.TempDir()
	library, source, id := buildLibrary(t, dir)
	original, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}

	program := unprivileged(exec.Command(filepath.Join(dir, "program")))
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		program.Process.Kill()
		program.Wait()
	}()
	if n, err := stdout.Read(make([]byte, 6)); n != 6 {
		t.Fatalf("the program printed nothing: %v", err)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "clew")); err != nil { // what testscript.Main goes by
		t.Fatal(err)
	}
	stack := func(code int, flags ...string) (out, complaints string) {
		t.Helper()
		cmd := unprivileged(exec.Command(filepath.Join(dir, "clew"), append([]string{"stack", strconv.Itoa(program.Process.Pid)}, flags...)...))
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%v, want exit code %d: %s", err, code, stderr.Bytes())
		}
		return stdout.String(), stderr.String()
	}
	const named = "inner+"
	if out, complaints := stack(0); !strings.Contains(out, named) || complaints != "" {
		t.Errorf("as it is: %s%s", out, complaints)
	}
	if err := os.Remove(library); err != nil {
		t.Fatal(err)
	}
	gccIn(t, dir, "-shared", "-fPIC", "-Wl,--build-id=0x1234", "-o", library, source)
	out, complaints := stack(1)
	if strings.Contains(out, named) || !strings.Contains(out, "outer+") || !strings.Contains(out, "in library.so [read from memory, without its file]") {
		t.Errorf("replaced:\n%s", out)
	}
	for _, want := range []string{library + " was read from memory", library + " was not used: its build ID is 1234, and " + id + " is expected",
		"root may open the mapped file", filepath.Join(dir, ".debug")} {
		if !strings.Contains(complaints, want) {
			t.Errorf("%q does not say %q", complaints, want)
		}
	}
	if out, _ := stack(1, "--json"); !strings.Contains(out, `"notes":["`+library+` was read from memory, `) {
		t.Errorf("the JSON lacks the note: %s", out)
	}
	cached := filepath.Join(dir, ".debug", ".build-id", id[:2], id[2:], "elf")
	if err := os.MkdirAll(filepath.Dir(cached), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cached, original, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, complaints := stack(0); !strings.Contains(out, named) || strings.Contains(out, "read from memory") || complaints != "" {
		t.Errorf("with a copy in perf's cache: %s%s", out, complaints)
	}
}

// gccIn runs gcc in a folder.
func gccIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("gcc", append([]string{"-O1", "-g", "-fno-optimize-sibling-calls"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
}

// buildLibrary builds a program that waits in a function of a library, and returns the library, its
// source and its build ID.
func buildLibrary(t *testing.T, dir string) (library, source, id string) {
	t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source = write("library.c", `
#include <unistd.h>
static __attribute__((noinline)) int inner(int n) { write(1, "ready\n", 6); pause(); return n + 1; }
int outer(int n) { return inner(n) + 1; }
`)
	library = filepath.Join(dir, "library.so")
	gccIn(t, dir, "-shared", "-fPIC", "-o", library, source)
	gccIn(t, dir, "-o", "program", write("program.c", "int outer(int);\nint main(void) { return outer(1); }\n"), library)
	file, err := object.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	id = hex.EncodeToString(file.BuildID())
	file.Close()
	return library, source, id
}
