// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package frontend

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

func failedCondition(number int, condition string, err error) error {
	return fmt.Errorf("breakpoint %d, %s: %w", number, condition, err)
}

var (
	strict  = Conditions{Everywhere: true, Variables: true, Failed: failedCondition}
	lenient = Conditions{Failed: failedCondition}
)

// idle returns a session over testdata/frames.c, without breakpoints and without a stopped
// call, and its values.
func idle(t *testing.T) (*session.Session, *Values) {
	t.Helper()
	s := atLeaf(t, "outer", 3)
	for _, b := range s.Breakpoints() {
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
	if stop, err := s.Continue(); err != nil || stop.Reason != session.Returned {
		t.Fatalf("%v, %v", stop, err)
	}
	v := NewValues(s, NewFrames(s))
	v.Convenience["three"] = value.Constant(value.Base(s.Context(0).Machine, "int"), []byte{3, 0, 0, 0}, v.Outside())
	return s, v
}

// depths calls deep(4) and returns n at the stops, and their errors.
func depths(t *testing.T, s *session.Session, v *Values) (list []uint64, failed error) {
	t.Helper()
	deep, _ := s.Symbol("deep")
	stop, err := s.Call(deep, 4)
	for ; err == nil && stop.Reason == session.AtBreakpoint; stop, err = s.Continue() {
		frames, err := NewFrames(s).Load(1)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Evaluate("n", v.Context(frames[0]), v.Frame(frames[0]))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := x.Uint()
		list, failed = append(list, n), errors.Join(failed, stop.Err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list, failed
}

func TestBreakpoints(t *testing.T) {
	s, v := idle(t)
	deep, err := s.Locate("deep")
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := s.Locate("leaf")
	both := slices.Concat(leaf, deep)
	even := func(n int) bool { return n%2 == 0 }
	for _, test := range []struct {
		name       string
		b          Breakpoint[string]
		condition  string
		addresses  []uint64
		conditions Conditions
		set        string // error of the condition
		want       []uint64
		hits       int
		failed     string
	}{
		{name: "none", conditions: strict, want: []uint64{4, 3, 2, 1, 0}, hits: 5},
		{name: "condition", condition: "n == 3", conditions: lenient, want: []uint64{3}, hits: 1},
		{name: "ignored", b: Breakpoint[string]{Ignore: 3}, conditions: strict, want: []uint64{1, 0}, hits: 5},
		{name: "counted", b: Breakpoint[string]{Counts: even}, condition: "n < 4", conditions: lenient, want: []uint64{2, 0}, hits: 4},
		{name: "temporary", b: Breakpoint[string]{Temporary: true}, condition: "n < 4", conditions: strict, want: []uint64{3}, hits: 1},
		{name: "hardware", b: Breakpoint[string]{Hardware: true}, condition: "n == 2", conditions: strict, want: []uint64{2}, hits: 1},
		{name: "variable", condition: "n == $three", conditions: strict, want: []uint64{3}, hits: 1},
		{name: "no variables", condition: "n == $three", conditions: lenient, set: "Invalid type combination"},
		{name: "unknown name", condition: "nosuch", conditions: strict, set: `No symbol "nosuch"`},
		{name: "type", condition: "int", conditions: lenient, set: "type name"},
		{name: "operator", condition: "&n * 2", conditions: lenient, set: "Argument to arithmetic operation"},
		{name: "fails", condition: "n < 3 && *(int *)(n - n)", conditions: strict, want: []uint64{2, 1, 0}, failed: "breakpoint 1, n < 3 && *(int *)(n - n): Cannot access memory at address 0x0"},
		{name: "somewhere", condition: "deep && n == 1", addresses: both, conditions: lenient, want: []uint64{1}, hits: 1},
	} {
		table := NewBreakpoints[string](v, test.conditions)
		b := &test.b
		if test.addresses == nil {
			test.addresses = deep
		}
		if err := table.SetCondition(b, test.condition, test.addresses, nil); test.set != "" || err != nil {
			if err == nil || test.set == "" || !strings.Contains(err.Error(), test.set) {
				t.Errorf("%s: %v, want %q", test.name, err, test.set)
			}
			continue
		}
		if err := table.Break(b, "", deep[0]); err != nil {
			t.Fatal(err)
		}
		table.Add(b)
		got, failed := depths(t, s, v)
		if !slices.Equal(got, test.want) || b.Hits != test.hits || (failed == nil) != (test.failed == "") || failed != nil && !strings.HasPrefix(failed.Error(), test.failed) {
			t.Errorf("%s: stops at %v, %d hits, %v", test.name, got, b.Hits, failed)
		}
		if err := table.Unset(b); err != nil || b.ID() != 0 {
			t.Errorf("%s: %v, ID %d", test.name, err, b.ID())
		}
	}
}

// A condition need not compile at all addresses, unless the front end wants that.
func TestConditionSomewhere(t *testing.T) {
	s, v := idle(t)
	outer, _ := s.Locate("outer")
	leaf, _ := s.Locate("leaf")
	addresses := slices.Concat(leaf, outer)
	b := &Breakpoint[int]{}
	if err := NewBreakpoints[int](v, strict).SetCondition(b, "n2 >= 0", addresses, nil); err == nil || b.Condition() != "" {
		t.Errorf("%v, condition %q", err, b.Condition())
	}
	table := NewBreakpoints[int](v, lenient)
	if err := table.SetCondition(b, "n2 >= 0 || 1", addresses, nil); err != nil || b.Condition() != "n2 >= 0 || 1" {
		t.Fatalf("%v, condition %q", err, b.Condition())
	}
	other := &Breakpoint[int]{}
	if err := table.SetCondition(other, "nosuch", addresses, nil); err == nil {
		t.Error("a condition that does not compile at any address is accepted")
	}
	if err := table.Break(b, "", leaf[0]); err != nil {
		t.Fatal(err)
	}
	entry, _ := s.Symbol("outer")
	if stop, err := s.Call(entry, 3); err != nil || stop.Reason != session.Returned {
		t.Errorf("stops where its condition does not compile: %v, %v", stop, err)
	}
	if err := table.SetCondition(b, "", addresses, nil); err != nil || b.Condition() != "" {
		t.Errorf("%v, condition %q", err, b.Condition())
	}
	if stop, err := s.Call(entry, 3); err != nil || !slices.Equal(table.At(stop), []*Breakpoint[int](nil)) {
		t.Errorf("a breakpoint that was not added is in the table: %v, %v", stop, err)
	}
}

func TestBreakpointTable(t *testing.T) {
	_, v := idle(t)
	table := NewBreakpoints[string](v, strict)
	var list []*Breakpoint[string]
	for n, own := range []string{"a", "b", "c"} {
		list = append(list, &Breakpoint[string]{Own: own})
		table.Add(list[n])
		if list[n].Number != n+1 || table.Last() != n+1 {
			t.Errorf("%s is number %d of %d", own, list[n].Number, table.Last())
		}
	}
	table.Drop(list[1])
	if got := table.List(); !slices.Equal(got, []*Breakpoint[string]{list[0], list[2]}) || table.Numbered(2) != nil || table.Numbered(3) != list[2] {
		t.Errorf("%v", got)
	}
	if err := table.Unset(list[0]); err != nil {
		t.Error(err)
	}
}

func TestLogMessage(t *testing.T) {
	s, v := idle(t)
	deep, _ := s.Locate("deep")
	table := NewBreakpoints[int](v, lenient)
	for text, want := range map[string]string{"{": "no } for", "a {n": "no } for", "{nosuch}": `{nosuch}: No symbol "nosuch"`} {
		if _, err := table.LogMessage(text, deep); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	m, err := table.LogMessage(`n is {n}, \{n\}, {*(int *)0}, {label[0]}`, deep)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	b := &Breakpoint[int]{Log: func(f *session.Frame) error {
		lines = append(lines, m.Text(f, func(x value.Value) string {
			n, err := x.Uint()
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(n)
		}))
		return nil
	}}
	if err := table.SetCondition(b, "n < 2", deep, nil); err != nil {
		t.Fatal(err)
	}
	if err := table.Break(b, "deep", 0); err != nil {
		t.Fatal(err)
	}
	if stops, err := depths(t, s, v); len(stops) != 0 || err != nil {
		t.Errorf("stops at %v, %v", stops, err)
	}
	const ending = ", {n}, cannot access memory at address 0x0, 108"
	if want := []string{"n is 1" + ending, "n is 0" + ending}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestWatchable(t *testing.T) {
	s, v := idle(t)
	numbers, _ := s.Symbol("numbers")
	for text, want := range map[string]string{"numbers[2]": "", "numbers": "400000 bytes", "1 + 1": "not in memory", "(int *)&label[1]": "not in memory", "*(int *)&label[1]": "4 bytes at"} {
		x, err := Evaluate(text, v.Context(nil), v.Outside())
		if err != nil {
			t.Fatal(err)
		}
		address, size, err := Watchable(text, x)
		if want == "" && (err != nil || address != numbers+8 || size != 4) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %d bytes at %#x, %v; want %q", text, size, address, err, want)
		}
	}
	if _, _, err := Watchable("nothing", value.Value{}); err == nil {
		t.Error("no value can be watched")
	}
}
