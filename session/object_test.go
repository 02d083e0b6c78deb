// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// objects are the bytes of object files that tests have compiled.
var objects sync.Map

// compileObject returns the object file of a source: a file of testdata, or assembly code with
// several lines.
func compileObject(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	key := strings.Join(append(flags, source), "\n")
	if o, ok := objects.Load(key); ok {
		return o.([]byte)
	}
	testprogram.RequireTool(t, "gcc")
	dir := t.TempDir()
	path := filepath.Join("testdata", source)
	if strings.Contains(source, "\n") {
		path = filepath.Join(dir, "test.s")
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "test.o")
	args := append([]string{"-c", "-g", "-O1", "-o", out}, append(flags, path)...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	o, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	objects.Store(key, o)
	return o
}

// load makes an image of the result of compileObject.
func load(t testing.TB, source string, flags ...string) *Image {
	t.Helper()
	return loadWith(t, nil, source, flags...)
}

func loadWith(t testing.TB, o *ImageOptions, source string, flags ...string) *Image {
	t.Helper()
	name := source
	if strings.Contains(source, "\n") {
		name = "test.s"
	}
	f, err := object.NewFile(compileObject(t, source, flags...), name)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(o, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// symbol returns the address of a function or of data.
func symbol(t testing.TB, s *Session, name string) uint64 {
	t.Helper()
	address, ok := s.Symbol(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return address
}

// symbolOf is symbol for an image.
func symbolOf(t testing.TB, i *Image, name string) uint64 {
	t.Helper()
	address, ok := i.Symbol(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return address
}

// call calls a function by its name.
func call(t testing.TB, s *Session, name string, words ...uint64) *Stop {
	t.Helper()
	stop, err := s.Call(symbol(t, s, name), words...)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// returns calls a function by its name and checks its result.
func returns(t testing.TB, s *Session, want uint64, name string, words ...uint64) {
	t.Helper()
	if stop := call(t, s, name, words...); stop.Reason != Returned || stop.Result != want {
		t.Errorf("%s: %v, want %#x", name, stop, want)
	}
}

// register returns a general register of a stopped session.
func register(t testing.TB, s *Session, name string) uint64 {
	t.Helper()
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	v, ok := r.Get(name)
	if !ok {
		t.Fatalf("no register %s", name)
	}
	return v
}

// setRegister sets a general register of a stopped session.
func setRegister(t testing.TB, s *Session, name string, v uint64) {
	t.Helper()
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	r.Set(name, v)
	if err := s.SetRegisters(r); err != nil {
		t.Fatal(err)
	}
}

// waitState waits until a session is in a state.
func waitState(t testing.TB, s *Session, want State) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.State() != want; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("the session is %v, and never %v", s.State(), want)
		}
	}
}

// gdb runs gdb with commands for a program, and returns its output.
func gdb(t testing.TB, program string, commands ...string) string {
	t.Helper()
	testprogram.RequireTool(t, "gdb")
	script := filepath.Join(t.TempDir(), "script")
	text := "set debuginfod enabled off\nset pagination off\nset width 0\nset breakpoint always-inserted on\n" + strings.Join(commands, "\n") + "\n"
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gdb", "-nx", "-batch", "-x", script, program)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	return string(out)
}
