// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/call"
	"github.com/clewdev/clew/jit"
)

// Inlined calls are frames. The first has a line for its place; the other one's place has
// no instruction of its own.
func TestInlined(t *testing.T) {
	e := newEngine(t)
	inner := &e.code.Functions[0]
	middle := &jit.Call{Function: "engine.middle", File: "/src/a.src", Line: 10}
	deepest := &jit.Call{Function: "deepest", File: "/src/c.src", Line: 30, Outer: middle}
	plain := inner.Lines
	inner.Lines = slices.Clone(plain)
	inner.Lines[1].Inlined = deepest
	r := e.publish(t)
	var list []string
	var trace string
	function := ""
	host := func(a uintptr) uintptr {
		list = stack()
		trace = string(debug.Stack())
		pcs := make([]uintptr, 20)
		for _, pc := range pcs[:runtime.Callers(0, pcs)] {
			if f := runtime.FuncForPC(pc - 1); f != nil && strings.HasPrefix(f.Name(), "jit.deepest") {
				file, _ := f.FileLine(pc - 1)
				function = f.Name() + " " + file
			}
		}
		runtime.GC()
		grow(100)
		return a
	}
	e.run(host, 1)
	want := []string{"jit.deepest /src/b.src:20", "engine.middle /src/c.src:30", "engine.inner /src/a.src:10", "jit.outer ?:0"}
	if runtime.GOARCH != "amd64" { // the place of the deepest call has no address
		want = slices.Delete(want, 0, 1)
		want[0] = "engine.middle /src/b.src:20"
	} else if function != "jit.deepest /src/b.src" {
		t.Errorf("FuncForPC: %q", function)
	}
	if !strings.Contains(strings.Join(list, "\n"), "call.host ") || !strings.Contains(strings.Join(list, "\n"), strings.Join(want, "\n")) {
		t.Errorf("expected %q in\n%s", want, strings.Join(list, "\n"))
	}
	for _, text := range []string{"engine.middle(...)\n", "engine.inner("} {
		if !strings.Contains(trace, text) {
			t.Errorf("no %q in\n%s", text, trace)
		}
	}
	if err := r.Withdraw(); err != nil {
		t.Fatal(err)
	}
	// Many rounds, which reuse the memory of records and calls.
	for i := range 3000 {
		inner.Lines[1].Inlined = []*jit.Call{nil, middle, deepest}[i%3]
		r := e.publish(t)
		if i%100 < 3 {
			e.run(host, 1)
			if got := strings.Count(strings.Join(list, "\n"), " /src/"); runtime.GOARCH == "amd64" && got != 1+i%3 {
				t.Fatalf("%d frames for %d calls in\n%s", got, i%3, strings.Join(list, "\n"))
			}
		}
		if err := r.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	call.SetHost(nil)
}
