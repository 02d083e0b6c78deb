// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
)

// Parts that are found to be missing only while variables are read are in the JSON's list of
// missing parts. clang's locations lead to registers that calls changed.
func TestMissingInJSON(t *testing.T) {
	program := compile(t, "clang -O2", "frames.c")
	r := coreStacks(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), nil)
	r.Locals = true
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for line := range bytes.Lines(out.Bytes()) {
		var decoded any
		if err := json.Unmarshal(line, &decoded); err != nil {
			t.Fatal(err)
		}
		missing += missingIn(t, decoded)
	}
	if missing == 0 {
		t.Errorf("nothing is missing: %s", &out)
	}
}

// A library without debugging information is missing if a frame is in it, and not if a pointer
// to one of its functions is shown with the function's name.
func TestBareIsOfFrames(t *testing.T) {
	dir := t.TempDir()
	source := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	library := filepath.Join(dir, "libbare.so")
	run(t, "gcc", "-shared", "-fPIC", "-o", library, source("library.c", "int through(int (*f)(void *), void *p) { return f(p) + 1; }\n"))
	main := source("main.c", `
int through(int (*f)(void *), void *p);
int crash(void *p) { int (*pointer)(int (*)(void *), void *) = through; return *(volatile int *)0 + (pointer == p); }
int main(void) { return CALL; }
`)
	for call, want := range map[string]int{"crash(0)": 0, "through(crash, 0)": 1} {
		program := filepath.Join(dir, "program")
		run(t, "gcc", "-g", "-DCALL="+call, "-o", program, main, library)
		r := coreStacks(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), nil)
		r.Locals = true
		var out bytes.Buffer
		if err := r.Text(&out, trace.Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "<through>") {
			t.Errorf("%s: the pointer has no name: %s", call, &out)
		}
		bare := 0
		for _, o := range r.Variables.Bare() {
			if o.Name == library {
				bare++
			}
		}
		if bare != want {
			t.Errorf("%s: the library is missing %d times, want %d: %s", call, bare, want, &out)
		}
	}
}

// missingIn counts the optimized-out variables in a value of JSON.
func missingIn(t *testing.T, in any) (n int) {
	switch in := in.(type) {
	case []any:
		for _, e := range in {
			n += missingIn(t, e)
		}
	case map[string]any:
		if text, _ := in["value"].(string); strings.HasPrefix(text, "<") {
			t.Errorf("%v has no value", in)
		}
		if in["error"] == "optimized out" {
			n++
		}
		for _, e := range in {
			n += missingIn(t, e)
		}
	}
	return n
}
