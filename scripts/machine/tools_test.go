// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/scripts/machine/exchange"
)

func call(t *testing.T, c exchange.Call) *exchange.Result {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return runTool(t.Context(), t.TempDir(), "x", text)
}

// The host compiles a source that only the machine has, into a directory that only the machine
// has.
func TestRunTool(t *testing.T) {
	testprogram.RequireTool(t, "aarch64-linux-gnu-gcc")
	dir := t.TempDir()
	source, object := filepath.Join(dir, "new", "a.c"), filepath.Join(dir, "out", "a.o")
	r := call(t, exchange.Call{
		Args:   []string{"gcc", "-c", "-o", object, source},
		Dir:    filepath.Join(dir, "new"),
		Files:  map[string][]byte{source: []byte("#warning here\nint f(void) { return 1; }\n")},
		Folder: filepath.Dir(object),
	})
	if r.Status != 0 || r.Error != "" || len(r.Stderr) == 0 {
		t.Fatalf("status %d, error %q: %s", r.Status, r.Error, r.Stderr)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != elf.EM_AARCH64 {
		t.Error(f.Machine)
	}
	if r := call(t, exchange.Call{Args: []string{"gcc", "-c", os.DevNull, "/nonexistent"}, Dir: dir}); r.Status == 0 {
		t.Error("a failure is none")
	}
	if r := call(t, exchange.Call{Args: []string{"sh", "-c", "true"}, Dir: dir}); r.Error == "" {
		t.Error("any program can be run")
	}
}
