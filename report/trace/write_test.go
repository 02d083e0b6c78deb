// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package trace_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// full fails after its first write.
type full struct{ written int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.written++; f.written > 1 {
		return 0, errFull
	}
	return len(p), nil
}

// Several processors write the same text as one, and stop after a write error.
func TestArgumentsOnAllProcessors(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	// The text of this stack alone exceeds the buffer.
	deep := stacks[len(stacks)-1]
	deep.Frames = slices.Repeat(deep.Frames, 20)
	stacks = append(stacks, deep)
	type options struct{ grouped, all, locals, plain bool }
	text := func(processors int, o options, w io.Writer) error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r := trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects), Grouped: o.grouped, Locals: o.locals}
		if o.plain {
			r.Variables = nil
		}
		opts := trace.Options{AllFrames: o.all}
		if o.locals {
			opts.Source = new(style.SourceFiles)
		}
		return r.Text(w, opts)
	}
	for _, o := range []options{{}, {all: true}, {grouped: true}, {grouped: true, all: true}, {locals: true}, {grouped: true, all: true, locals: true}, {plain: true, all: true}} {
		var want, got bytes.Buffer
		if err := errors.Join(text(1, o, &want), text(4, o, &got)); err != nil {
			t.Fatal(err)
		}
		if o.plain == strings.Contains(want.String(), "(depth=") || o.locals != strings.Contains(want.String(), " > ") {
			t.Fatalf("%+v:\n%s", o, &want)
		}
		if got.String() != want.String() {
			t.Errorf("%+v: on four processors\n%s\non one\n%s", o, &got, &want)
		}
	}
	before := runtime.NumGoroutine()
	for _, o := range []options{{all: true}, {all: true, plain: true}} {
		for _, processors := range []int{1, 4} {
			if err := text(processors, o, new(full)); !errors.Is(err, errFull) {
				t.Errorf("%+v on %d: %v, expected %v", o, processors, err, errFull)
			}
		}
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, there were %d", runtime.NumGoroutine(), before)
		}
	}
}
