// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// Goroutines are created and end by thousands while they are read, and their structures and
// stacks are reused at once. Each stack that is shown as complete must be a stack of a
// goroutine of its kind: all functions are those of the kind, from the first one on, and a
// goroutine that waits for the others is at the kind's depth (the garbage collector can stop
// it anywhere). All other stacks have an error.
func TestChangingGoroutines(t *testing.T) {
	depths := map[string]int{"A": 2, "B": 10, "C": 41, "D": 121} // calls of recurseX
	p := testprogram.Start(t, testprogram.Build(t, "shortlived"))
	whole, broken, late := 0, 0, 0
	check := func(g *golang.Goroutine, kind string) {
		walked := &g.Stack
		switch {
		case walked.Err != nil:
			broken++
			return
		case walked.Reason != unwind.EndOfStack:
			t.Errorf("goroutine %d, %s: its stack ends with %v, and no error says more", g.ID, g.Name, walked.Reason)
			return
		case slices.ContainsFunc(walked.Frames, func(f stack.Frame) bool { return f.Late }):
			late++
			return
		}
		whole++
		own := []string{"main.start" + kind + ".func1", "main.kind" + kind, "main.recurse" + kind, "main.generation.func1"}
		var names []string
		calls, foreign := 0, false
		for i := range walked.Frames {
			name := trace.FunctionName(&walked.Frames[i])
			names = append(names, name)
			if name == own[2] {
				calls++
			}
			foreign = foreign || strings.HasPrefix(name, "main.") && !slices.Contains(own, name)
		}
		n := len(names)
		if calls == 0 && !foreign && g.Reason != "chan receive" && slices.Contains(names, "runtime.goexit1") {
			return // it has returned from its first function
		}
		if foreign || n < 2 || names[n-1] != "runtime.goexit" || names[n-2] != own[0] ||
			calls > depths[kind] || g.Reason == "chan receive" && calls != depths[kind] {
			t.Fatalf("goroutine %d of kind %s, %s, is in %d calls of %d: %.300q", g.ID, kind, g.Name, calls, depths[kind], names)
		}
	}
	first, last := uint64(0), uint64(0) // goroutines
	const looks, created = 3, 10_000
	for look := 0; look < 2*looks || last < first+created; look++ {
		s := takeGoroutines(t, p.PID, look%2 == 0)
		objects := stack.NewObjects(s)
		list, err := golang.Goroutines(objects, golang.Options{})
		if err != nil {
			t.Log(err) // one that is there in part says so
		}
		if err := golang.Name(objects, list, stack.NameOptions{}); err != nil {
			t.Error(err)
		}
		for i := range list {
			g := &list[i]
			last = max(last, g.ID)
			if g.Created == nil {
				continue
			}
			if kind, ok := strings.CutPrefix(g.Created.Symbol.Name, "main.start"); ok {
				check(g, kind)
			}
		}
		if first == 0 {
			first = last
		}
		objects.Close()
		if t.Failed() {
			return
		}
	}
	if whole == 0 {
		t.Error("no stack is whole")
	}
	t.Logf("%d stacks are whole, %d are not, and %d were read late; %d goroutines were created", whole, broken, late, last-first)
}
