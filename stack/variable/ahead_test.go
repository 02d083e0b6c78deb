// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package variable

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/value/print"
)

// Reading ahead while the frames are named does not change the values that are read later.
func TestAhead(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	walk := stack.WalkOptions{Registers: true, Lines: true}
	w, err := process.Stacks(p.PID, nil, walk)
	if err != nil {
		t.Fatal(err)
	}
	s, objects, stacks := w.Snapshot, w.Objects, w.Stacks
	defer objects.Close()
	reader := NewReader(s, objects)
	read, done := reader.Ahead(stacks), make(chan struct{})
	err = objects.Name(stacks, stack.NameOptions{Lines: true, Meanwhile: func(ended func() bool) {
		defer close(done)
		read(ended)
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := arguments(reader, stacks) // which need not wait for it
	<-done
	if again := arguments(reader, stacks); again != got {
		t.Errorf("got\n%s\nand once all was read ahead\n%s", got, again)
	}
	if want := arguments(NewReader(s, objects), stacks); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if err := reader.Err(); err != nil {
		t.Error(err)
	}
}

// After the start of Close, nothing is read ahead.
func TestAheadEnds(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{Registers: true, Lines: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	// The first call is for a stack, the others for its frames.
	for _, test := range []struct{ answers, least, most int }{{0, 0, 0}, {3, 0, 2}, {1000, 5, 1000}} {
		reader, asked := NewReader(s, objects), 0
		reader.Ahead(stacks)(func() bool {
			asked++
			return asked > test.answers
		})
		read := 0
		for _, places := range reader.places {
			for _, p := range places {
				if p.inside != nil {
					read++
				}
			}
		}
		if read < test.least || read > test.most {
			t.Errorf("%d places were read after %d questions, expected %d to %d", read, test.answers, test.least, test.most)
		}
	}
}

// arguments returns the arguments of stacks as backtraces show them.
func arguments(r *Reader, stacks []stack.Stack) (text string) {
	var printer print.Printer
	for i := range stacks {
		frames := r.Frames(&stacks[i], nil)
		for k := range frames {
			for _, scope := range frames[k].Scopes() {
				text += scope.Function.Name
				for _, a := range scope.Arguments {
					text += " " + printer.Argument(a, &frames[k])
				}
				text += "\n"
			}
		}
	}
	return text
}
