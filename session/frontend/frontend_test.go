// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package frontend

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// atLeaf returns a session over testdata/frames.c with a call that is stopped in leaf.
func atLeaf(t *testing.T, function string, n uint64, flags ...string) *session.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "frames.o")
	gcc := testprogram.RequireTool(t, "gcc")
	if out, err := exec.Command(gcc, append(flags, "-g", "-c", "-o", path, "testdata/frames.c")...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := session.LoadImage(nil, file)
	if errors.Is(err, session.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), image.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.BreakAt("leaf", nil); err != nil {
		t.Fatal(err)
	}
	entry, _ := s.Symbol(function)
	if stop, err := s.Call(entry, n); err != nil || stop.Reason != session.AtBreakpoint {
		t.Fatalf("%v, %v", stop, err)
	}
	return s
}

func names(list []*value.Variable) string {
	var all []string
	for _, v := range list {
		all = append(all, v.Name)
	}
	return strings.Join(all, " ")
}

func TestFrames(t *testing.T) {
	s := atLeaf(t, "outer", 3)
	frames := NewFrames(s)
	list, err := frames.Load(0)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d frames, %v", len(list), err)
	}
	for i, want := range []struct {
		name    string
		inner   int
		inlined bool
		locals  string
	}{
		{"leaf", 0, false, "n"},
		{"middle", 0, true, "twice n"},
		{"outer", 1, false, "n n2 n"},
	} {
		f := list[i]
		if f.Level != i || f.Name != want.name || f.Inner != want.inner || f.Passed != want.inner || f.Inlined != want.inlined || names(f.Locals()) != want.locals {
			t.Errorf("%+v has %q, want %+v", f, names(f.Locals()), want)
		}
		if got := names(f.Globals()); got != "numbers label" {
			t.Errorf("%s: globals %q", f.Name, got)
		}
	}
	if list[1].Physical != list[2].Physical {
		t.Error("an inlined call has its own physical frame")
	}
	if reason, err := frames.End(); reason != unwind.EndOfStack || err != nil {
		t.Error(reason, err)
	}
}

// A deep stack is read only as far as needed.
func TestFramesOnDemand(t *testing.T) {
	frames := NewFrames(atLeaf(t, "deep", 200))
	for _, test := range []struct{ want, most int }{{1, 1}, {2, 2}, {3, 4}, {100, 100}, {500, 202}, {0, 202}, {1, 202}} {
		list, err := frames.Load(test.want)
		if err != nil || len(list) < min(test.want, 202) || len(list) > test.most {
			t.Errorf("Load(%d): %d frames, %v", test.want, len(list), err)
		}
	}
	frames.Forget()
	if list, err := frames.Load(1); err != nil || len(list) != 1 {
		t.Errorf("after Forget: %d frames, %v", len(list), err)
	}
}

// The functions that left no frame because of tail calls are among the frames.
func TestFramesOfTailCalls(t *testing.T) {
	s := atLeaf(t, "starts", 3, "-O2")
	want := []string{"leaf", "passing", "through", "starts"}
	for n := range want {
		frames := NewFrames(s)
		for _, count := range []int{n + 1, 0} {
			list, err := frames.Load(count)
			if err != nil || len(list) < n+1 || count == 0 && len(list) != len(want) {
				t.Fatalf("Load(%d): %d frames, %v", count, len(list), err)
			}
			for i, f := range list {
				// The inlined call and the function around it share the frame of the latter.
				tail := i == 1 || i == 2
				if f.Name != want[i] || f.Level != i || f.Physical.TailCall != tail || f.Inlined != (i == 1) || f.Location.Line == 0 || f.Scope == nil {
					t.Errorf("Load(%d): frame %d is %+v, want %s", count, i, f, want[i])
				}
			}
		}
	}
}

func TestValues(t *testing.T) {
	s := atLeaf(t, "outer", 3)
	frames := NewFrames(s)
	v := NewValues(s, frames)
	list, err := frames.Load(0)
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(text string, f *Frame) value.Value {
		t.Helper()
		x, err := Evaluate(text, v.Context(f), v.Frame(f))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return x
	}
	number := func(text string, f *Frame) uint64 {
		t.Helper()
		n, err := evaluate(text, f).Uint()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return n
	}
	for _, text := range []string{"$n = n", "$function = leaf", "$all = numbers"} {
		evaluate(text, list[2])
	}
	v.Record(evaluate("n", list[0]))
	v.Record(evaluate("n", list[2]))
	for _, test := range []struct {
		n        int
		relative bool
		number   int
	}{{1, false, 1}, {2, false, 2}, {0, true, 2}, {1, true, 1}, {2, true, 0}, {3, false, 3}, {-1, false, -1}} {
		x, n := v.Past(test.n, test.relative)
		if n != test.number || (x.Type() != nil) != (n == 1 || n == 2) {
			t.Errorf("%d, %v: %v is number %d", test.n, test.relative, x, n)
		}
	}
	// Recorded values stay after the end of the call; globals can be read and set.
	if stop, err := s.Continue(); err != nil || stop.Reason != session.Returned {
		t.Fatal(stop, err)
	}
	frames.Forget()
	if x, _ := v.Past(1, false); x.Err() != nil {
		t.Error(x.Err())
	} else if n, err := x.Uint(); n != 20 || err != nil {
		t.Errorf("$1 is %d, %v", n, err)
	}
	leaf, _ := s.Symbol("leaf")
	for text, want := range map[string]uint64{"$n": 10, "$all[2]": 3, "numbers[4] = 7": 7, "(long)$function": leaf} {
		if got := number(text, nil); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

func TestSymbols(t *testing.T) {
	s := atLeaf(t, "outer", 3)
	symbols := NewSymbols(s)
	leaf, _ := s.Symbol("leaf")
	numbers, _ := s.Symbol("numbers")
	for _, test := range []struct {
		address uint64
		name    string
		offset  uint64
	}{{leaf, "leaf", 0}, {leaf + 4, "leaf", 4}, {numbers, "numbers", 0}, {numbers + 399999, "numbers", 399999}, {16, "", 0}} {
		name, offset, ok := symbols.Symbol(test.address)
		if name != test.name || offset != test.offset || ok != (name != "") {
			t.Errorf("%#x is %s+%d, %v; want %s+%d", test.address, name, offset, ok, test.name, test.offset)
		}
	}
	if !slices.ContainsFunc(NewValues(s, NewFrames(s)).Objects(), func(f value.Frame) bool { return f.Info() != nil }) {
		t.Error("no debugging information")
	}
}

func TestNames(t *testing.T) {
	s := atLeaf(t, "outer", 3)
	frames := NewFrames(s)
	v := NewValues(s, frames)
	list, err := frames.Load(0)
	if err != nil {
		t.Fatal(err)
	}
	v.Convenience["spare"] = value.Value{}
	for _, test := range []struct {
		f      *Frame
		prefix string
		want   []Name
	}{
		{list[2], "n", []Name{{"n", Local}, {"n2", Local}, {"n", Local}, {"numbers", Global}}},
		{list[1], "", []Name{{"twice", Local}, {"n", Local}, {"numbers", Global}, {"label", Global}, {"leaf", Function}, {"outer", Function}, {"deep", Function}, {"through", Function}, {"starts", Function}}},
		{nil, "l", []Name{{"label", Global}, {"leaf", Function}}},
		{nil, "$spa", []Name{{"$spare", Local}}},
		{nil, "nosuch", nil},
	} {
		if got := v.Names(test.f, test.prefix); !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.prefix, got, test.want)
		}
	}
	for text, want := range map[string]int{"": 0, "n": 0, "a.b": 2, "p $r": 2, "1 + größe": 4, "f(": 2, "\xff": 0} {
		if got := NameStart(text); got != want {
			t.Errorf("the name in %q starts at %d, want %d", text, got, want)
		}
	}
}

func TestSource(t *testing.T) {
	s := atLeaf(t, "outer", 3)
	f, err := s.Frame()
	if err != nil {
		t.Fatal(err)
	}
	row := Row(s, f.PC)
	if filepath.Base(row.File) != "frames.c" || row.Line != 6 || row.Start > f.PC || row.End <= f.PC {
		t.Errorf("%+v", row)
	}
	if list := Locations(s, f.PC); len(list) != 1 || list[0].Line != 6 || list[0].Function != "leaf" {
		t.Errorf("%+v", list)
	}
	if row := Row(s, 16); row.Line != 0 || Locations(s, 16) != nil {
		t.Errorf("%+v", row)
	}
}
