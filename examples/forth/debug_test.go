// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package forth_test

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/session"
)

const entered = `
: fact ( n -- n! )
  ?dup if
    dup 1- recurse *
  else
    1
  then ;
: greet ." hello" cr pause ;
: divide / ;
`

// debugged loads a program, and opens a debug session for its code.
func debugged(t *testing.T, p *forth.Program, output io.Writer) (*forth.Session, *session.Session) {
	t.Helper()
	loaded, err := forth.Load(p, &forth.SessionOptions{Output: output, Unpublished: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loaded.Close() })
	image, err := session.NewImage(loaded.Code())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if errors.Is(err, session.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return loaded, s
}

// enteredWords are loaded words with a debug session for their code.
type enteredWords struct {
	loaded  *forth.Session
	session *session.Session
	output  strings.Builder
}

// call calls a word through the entry.
func (e *enteredWords) call(t *testing.T, word string, numbers ...int64) *session.Stop {
	t.Helper()
	function, words, err := e.loaded.Enter(word, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := e.session.Call(function, words[:]...)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// A debug session calls words through the entry. They return, stop, print and fail as in Call,
// and the stack has the words and the entry.
func TestEnter(t *testing.T) {
	for _, frames := range []bool{false, true} {
		p, err := forth.Compile("entered.fth", []byte(entered), &forth.Options{Entry: true, FramePointers: frames})
		if err != nil {
			t.Fatal(err)
		}
		var e enteredWords
		e.loaded, e.session = debugged(t, p, &e.output)
		e.checkReturns(t)
		e.checkRecursion(t)

		// Call works as before.
		if got, err := e.loaded.Call("fact", 6); err != nil || !slices.Equal(got, []int64{720}) {
			t.Errorf("6 fact leaves %d: %v", got, err)
		}
		if _, _, err := e.loaded.Enter("nosuch"); err == nil {
			t.Error("a word that is not there can be entered")
		}
		e.loaded.Close()
		if _, _, err := e.loaded.Enter("fact"); err == nil {
			t.Error("a session that is closed can be entered")
		}
	}
}

// checkReturns calls words that return, print and fail.
func (e *enteredWords) checkReturns(t *testing.T) {
	t.Helper()
	if stop := e.call(t, "fact", 20); stop.Reason != session.Returned {
		t.Fatalf("20 fact: %v", stop)
	}
	if got, err := e.loaded.Leave(); err != nil || !slices.Equal(got, []int64{2432902008176640000}) {
		t.Errorf("20 fact leaves %d: %v", got, err)
	}
	if stop := e.call(t, "greet"); stop.Reason != session.Returned {
		t.Fatalf("greet: %v", stop)
	}
	if err := e.loaded.Flush(); err != nil || e.output.String() != "hello\n" {
		t.Errorf("greet prints %q: %v", e.output.String(), err)
	}
	if got, err := e.loaded.Leave(); err != nil || len(got) != 0 || e.output.String() != "hello\n" {
		t.Errorf("greet leaves %d, prints %q: %v", got, e.output.String(), err)
	}
	if stop := e.call(t, "divide", 1, 0); stop.Reason != session.Returned {
		t.Fatalf("1 0 divide: %v", stop)
	}
	var fault *forth.Fault
	if _, err := e.loaded.Leave(); !errors.Is(err, forth.ErrDivision) || !errors.As(err, &fault) || fault.Word != "divide" {
		t.Errorf("1 0 divide: %v", err)
	}
	e.call(t, "fact", 1_000_000)
	if _, err := e.loaded.Leave(); !errors.Is(err, forth.ErrDataStack) && !errors.Is(err, forth.ErrReturnStack) {
		t.Errorf("a deep recursion: %v", err)
	}
}

// checkRecursion stops in the middle of a recursion, and reads the stacks there.
func (e *enteredWords) checkRecursion(t *testing.T) {
	t.Helper()
	hits := 0
	b, err := e.session.BreakAt("fact", &session.BreakpointOptions{Condition: func(*session.Frame) (bool, error) {
		hits++
		return hits == 4, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if stop := e.call(t, "fact", 5); stop.Reason != session.AtBreakpoint {
		t.Fatalf("5 fact: %v", stop)
	}
	stack, err := e.session.Stack(0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range stack.Frames {
		names = append(names, f.Function.Name)
	}
	if want := []string{"fact", "fact", "fact", "fact", "forth_enter"}; !slices.Equal(names, want) || stack.Err != nil {
		t.Errorf("the stack is %q: %v, %v", names, stack.Reason, stack.Err)
	}
	below, top := uint64(3), uint64(0) // rbx, rax
	if runtime.GOARCH == "arm64" {
		below = 19 // and x0
	}
	down, _ := stack.Frames[0].Register(below)
	tos, _ := stack.Frames[0].Register(top)
	if got, ok := e.loaded.DataStack(down, tos); !ok || !slices.Equal(got, []int64{5, 4, 3, 2}) {
		t.Errorf("the data stack is %d, %v", got, ok)
	}
	if _, ok := e.loaded.DataStack(12345, 0); ok {
		t.Error("anything is a data stack")
	}
	if err := e.session.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	if stop, err := e.session.Continue(); err != nil || stop.Reason != session.Returned {
		t.Fatalf("continuing 5 fact: %v, %v", stop, err)
	}
	if got, err := e.loaded.Leave(); err != nil || !slices.Equal(got, []int64{120}) {
		t.Errorf("5 fact leaves %d: %v", got, err)
	}
}

// A program that was compiled without an entry cannot be entered.
func TestEnterWithoutEntry(t *testing.T) {
	p, err := forth.Compile("entered.fth", []byte(entered), nil)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := forth.Load(p, &forth.SessionOptions{Unpublished: true})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if _, _, err := loaded.Enter("fact", 1); err == nil {
		t.Error("a program without an entry can be entered")
	}
}
