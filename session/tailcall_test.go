// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/tailcall"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// tailFiles returns the two objects of testdata/tails.c.
func tailFiles(t *testing.T) (near, far *object.File) {
	t.Helper()
	open := func(name string, flags ...string) *object.File {
		f, err := object.NewFile(compileObject(t, "tails.c", append(flags, "-O2")...), name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return open("near.o", "-DNEAR"), open("far.o")
}

// stoppedInLeaf returns a session that has called a function and is stopped in leaf.
func stoppedInLeaf(t *testing.T, function string, n uint64) *Session {
	t.Helper()
	near, far := tailFiles(t)
	i, err := LoadImage(nil, far, near)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	s := newSession(t, i)
	if _, err := s.BreakAt("leaf", nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, function), n)
	check(t, stop, err, AtBreakpoint)
	return s
}

// shownFrames returns the names of the functions of a stack, with those of tail calls in brackets.
func shownFrames(stack *Stack) (list []string) {
	for f := range stack.All() {
		if f.TailCall {
			list = append(list, "["+f.Function.Name+"]")
		} else {
			list = append(list, f.Function.Name)
		}
	}
	return list
}

// The functions that left no frame because of tail calls are between the frames of the stack, also if
// they are in several files or called again.
func TestTailCallers(t *testing.T) {
	for _, test := range []struct {
		function string
		n        uint64
		want     []string
	}{
		{"outer", 1, []string{"leaf", "[middle]", "[first]", "outer"}},
		{"direct", 1, []string{"leaf", "direct"}},
		{"deep", 2, []string{"leaf", "[middle]", "[first]", "outer", "[deep]", "deep", "deep"}},
		{"last", 1, []string{"leaf"}}, // as in gdb, because no call of last is described
	} {
		s := stoppedInLeaf(t, test.function, test.n)
		stack, err := s.Stack(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownFrames(stack); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.function, got, test.want)
		}
		for n := range stack.Frames {
			f := &stack.Frames[n]
			returns := f.ReturnsTo()
			if f.Level != n || f.TailCall || n+1 < len(stack.Frames) && returns != &stack.Frames[n+1] || n+1 == len(stack.Frames) && returns != nil {
				t.Errorf("%s: frame %d is %+v and returns to %+v", test.function, n, f, returns)
			}
		}
		// The callers are the same without the whole stack.
		f, err := s.Frame()
		if err != nil {
			t.Fatal(err)
		}
		var callers []string
		for f != nil {
			callers = append(callers, f.Function.Name)
			f, _ = f.Caller().(*Frame)
		}
		var names []string
		for f := range stack.All() {
			names = append(names, f.Function.Name)
		}
		if !slices.Equal(callers, names) {
			t.Errorf("%s: callers %q, want %q", test.function, callers, names)
		}
	}
}

// A frame of a tail call has no place on the stack. It has the level of the frame that has its place.
func TestTailCallFrame(t *testing.T) {
	s := stoppedInLeaf(t, "outer", 1)
	stack, err := s.Stack(0)
	if err != nil {
		t.Fatal(err)
	}
	leaf, outer := &stack.Frames[0], &stack.Frames[1]
	middle := leaf.TailCaller()
	m := s.machine
	for f := middle; f != nil; f = f.TailCaller() {
		if f.Level != 0 || f.Innermost() || f.ReturnsTo() != outer || len(f.Locations) == 0 || f.Bias() != 0 || f.Info() == nil {
			t.Errorf("%+v", f)
		}
		if pc, lookup := f.ProgramCounter(); pc-1 != lookup || lookup-f.Function.Start >= f.Function.Size {
			t.Errorf("%s: %#x, %#x", f.Function.Name, pc, lookup)
		}
		if cfa, ok := f.CFA(); ok {
			t.Errorf("CFA %#x", cfa)
		}
		for column := range uint64(64) {
			got, ok := f.Register(column)
			want, known := outer.Register(column)
			switch int(column) {
			case m.ProgramCounter:
				want, known = f.PC, true
			case m.StackPointer, m.ReturnAddress:
				known = false
			}
			if ok != known || ok && got != want {
				t.Errorf("register %d is %#x, %t; want %#x, %t", column, got, ok, want, known)
			}
			if err := f.SetRegister(column, got); !errors.Is(err, ErrNotFound) {
				t.Errorf("register %d is set: %v", column, err)
			}
		}
		if _, ok := f.RegisterBytes(17); ok {
			t.Error("vector registers are known")
		}
		if _, ok := f.NamedRegister("sp"); ok {
			t.Error("the stack pointer is known")
		}
	}

	// The function of the frame returns when that of its place does.
	stop, err := s.StepOut(middle.Level)
	if check(t, stop, err, SteppedOut); stop.PC != outer.PC {
		t.Errorf("at %#x, want %#x", stop.PC, outer.PC)
	}
	if got := names(t, s); !slices.Equal(got, []string{"outer"}) {
		t.Errorf("%q", got)
	}
	s = stoppedInLeaf(t, "outer", 1)
	if err := s.Pop(middle.Level); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); !slices.Equal(got, []string{"outer"}) {
		t.Errorf("%q", got)
	}
}

// The arguments of a function that calls itself again by a tail call in another file are not those of
// the call that it returns to.
func TestTailCallBack(t *testing.T) {
	s := stoppedInLeaf(t, "starts", 0)
	for range 2 {
		stack, err := s.Stack(0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shownFrames(stack), []string{"leaf", "again", "starts"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for n, want := range []bool{false, true, false} {
			if got := stack.Frames[n].CallsItself(); got != want {
				t.Errorf("frame %d calls itself: %t", n, got)
			}
		}
		again := &stack.Frames[1]
		scopes, err := again.Info().Scopes(again.LookupPC)
		if err != nil {
			t.Fatal(err)
		}
		if v := scopes[0].Arguments[0].Read(again); !errors.Is(v.Err(), value.ErrOptimizedOut) {
			t.Errorf("n is %v, %v", v, v.Err())
		}
		stop, err := s.Continue()
		check(t, stop, err, AtBreakpoint)
	}
}

// The search finds functions in other images, and those in images that are added later.
func TestTailCallersInImages(t *testing.T) {
	near, far := tailFiles(t)
	first, err := LoadImage(&ImageOptions{}, far, near)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	nearAgain, _ := tailFiles(t)
	second, err := LoadImage(&ImageOptions{Imports: []*Image{first}}, nearAgain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	s := newSession(t, second)
	if _, err := s.Break(symbolOf(t, first, "leaf"), nil); !errors.Is(err, ErrAddress) {
		t.Fatal(err)
	}
	if err := s.AddImage(first); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Break(symbolOf(t, first, "leaf"), nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbolOf(t, second, "outer"), 1)
	check(t, stop, err, AtBreakpoint)
	stack, err := s.Stack(0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shownFrames(stack), []string{"leaf", "[middle]", "[first]", "outer"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f := stack.Frames[0].TailCaller(); f.Image != first || f.TailCaller().Image != second {
		t.Errorf("%+v, %+v", f, f.TailCaller())
	}
}

// Stops, steps and stacks do not search for tail calls. A search is made once.
func TestTailCallersAreSearchedOnDemand(t *testing.T) {
	s := stoppedInLeaf(t, "outer", 1)
	searched := 0
	finder := &s.walk().tails
	file := finder.File
	finder.File = func(c codeFile) *object.File { searched++; return file(c) }
	conditions := 0
	if _, err := s.Break(symbol(t, s, "leaf"), &BreakpointOptions{Condition: func(f *Frame) (bool, error) {
		conditions++
		_, ok := f.CFA()
		return !ok, nil
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(symbol(t, s, "outer"), 1)
	check(t, stop, err, AtBreakpoint)
	for _, step := range []func() (*Stop, error){s.StepInstruction, s.NextInstruction, s.StepLine} {
		if _, err := step(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Frame(); err != nil {
			t.Fatal(err)
		}
	}
	before := searched
	var after [2]int
	for n := range after {
		stack, err := s.Stack(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownFrames(stack); len(got) != len(stack.Frames)+2 {
			t.Errorf("%q", got)
		}
		after[n] = searched
	}
	if conditions != 1 || before != 0 || after[0] == 0 || after[1] != after[0] {
		t.Errorf("%d conditions; %d files were used before, %d after", conditions, before, after)
	}
	var none tailcall.Place[codeFile]
	if p := finder.Definition(codeFile{image: s.images()[0], file: s.images()[0].files[0]}, "nosuch"); p != none {
		t.Errorf("%+v", p)
	}
}
