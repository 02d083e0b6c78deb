// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package variable_test

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/unwind"
)

// takeStacks returns the stacks of a process, with the reader for their variables.
func takeStacks(t *testing.T, pid int) (*snapshot.Snapshot, *stack.Objects, []stack.Stack) {
	t.Helper()
	s, err := process.Snapshot(pid, &process.Options{Vectors: true})
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	return s, objects, stacks
}

// stacksText returns the text of the stacks of a process.
func stacksText(t *testing.T, pid int, locals bool) string {
	t.Helper()
	s, objects, stacks := takeStacks(t, pid)
	r := trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects), Locals: locals}
	var out bytes.Buffer
	if err := r.Text(&out, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The arguments of a Go function equal those that it prints itself.
func TestGo(t *testing.T) {
	for _, flags := range [][]string{nil, {"-gcflags=all=-N -l"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, "govalues", flags...))
			p.Settle(t)
			text := stacksText(t, p.PID, false)
			want := strings.TrimSuffix(p.Output(), "\n")
			_, line, _ := strings.Cut(text, "  main.call (")
			line, _, _ = strings.Cut(line, "\n")
			if got, _, _ := strings.Cut(line, ") at "); got != want {
				t.Errorf("\n%s\nand by itself:\n%s\n%s", got, want, text)
			}
		})
	}
}

// Arguments that the compiler split are joined again: numbers are in their fields, and
// variables that were moved to the heap are read there. In optimized code every shown value is
// right, though some are unknown.
func TestGoTakenApart(t *testing.T) {
	padded := `main.padded {small: 7, big: 70000, text: "text"}`
	functions := []struct{ name, arguments string }{
		{"whole", "p=" + padded + "|list=[]uint8 len: 1, cap: 30, [1]|t=main.thing(*main.padded) *{small: 7, big: 70000, text: \"text\"}|n=1"},
		{"cut", "inner=[]uint8 len: 4, cap: 30, [1,0,0,0]"},
		{"length", `inner="measured"`},
		{"many", `a=1|b=2|c=3|d=4|e=5|f=6|g=7|h=8|i=9|list=[]int len: 2, cap: 3, [0,0]|text="many"`},
		{"wide", "n=1099511627781"},
		{"moved", `n=42|text="moved"`},
		{"stops", `n=1|text="stops"`},
		{"changed", "n=22"},
		{"keeps", "p=" + padded},
	}
	for _, tt := range []struct {
		flags []string
		lost  string // what can stand in the place of each value, or field
		known int    // at least
	}{
		{nil, "<optimized out(?:, [^>]+ in a trace)?>", 5}, // of which amd64 has one more
		{[]string{"-gcflags=all=-N -l"}, "", 24},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, "goarguments", tt.flags...))
			p.Settle(t)
			text := goroutinesText(t, p.PID)
			known := 0
			for _, f := range functions {
				_, line, _ := strings.Cut(text, "  main."+f.name+" (")
				rest, _, _ := strings.Cut(line, "\n") // of the arguments that are shown
				for k, want := range strings.Split(f.arguments, "|") {
					rest = strings.TrimPrefix(rest, ", ")
					name, value, _ := strings.Cut(want, "=")
					alone := fieldValue.ReplaceAllString(regexp.QuoteMeta(value), "$1(?:$2|"+tt.lost+")")
					m := regexp.MustCompile("^" + name + "=(?:" + alone + "|" + cmp.Or(tt.lost, alone) + ")").FindString(rest)
					if m == "" {
						t.Errorf("%s: argument %d: %q, expected %s", f.name, k, rest, want)
						break
					}
					if m == want {
						known++
					}
					rest = rest[len(m):]
				}
			}
			for _, line := range []string{`changed \(n=<optimized out, 0x5 in a trace>\)`, `keeps \(p=<optimized out, {0x7, 0x11170, {0x[0-9a-f]+, 0x4}} in a trace>\)`} {
				if tt.lost != "" && !regexp.MustCompile("  main."+line+" at ").MatchString(text) {
					t.Errorf("no %s", line)
				}
			}
			if known < tt.known {
				t.Errorf("%d arguments are known, expected %d", known, tt.known)
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// fieldValue is the value of a field, in a regular expression.
var fieldValue = regexp.MustCompile(`(: )([^,}\\]+|"[^"]*")`)

// goroutinesText returns the text of the goroutines of a process.
func goroutinesText(t *testing.T, pid int) string {
	t.Helper()
	s, err := process.Snapshot(pid, &process.Options{Goroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	list, err := golang.Goroutines(objects, golang.Options{Registers: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := golang.Name(objects, list, stack.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	r := trace.Goroutines{Threads: trace.Threads{Target: trace.Target{Machine: s.Machine}, Variables: variable.NewReader(s, objects)}, List: list}
	var out strings.Builder
	if err := r.Text(&out, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Local variables of a Go function equal Delve's: those on the heap by their names, without
// those that the compiler made for itself, and without those that the function has not
// reached.
func TestGoLocals(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "golocals", "-gcflags=all=-N -l"))
	p.Settle(t)
	whole := stacksText(t, p.PID, true)
	got := localsOf(whole, "main.work")
	slices.Sort(got)
	// The type argument of a generic function is in its dictionary.
	want := []string{"copied = main.pair[uint8] {first: 1, second: 2}", "escaped = main.pair[int] {first: 2, second: 7}", "i = 40", `text = "text"`, "total = 3"}
	got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "add = ") }) // a function by the compiler's name
	if call := "main.work[go.shape.uint8] (n=1, some=main.pair[uint8] {first: 1, second: 2}) at "; !strings.Contains(whole, call) {
		t.Errorf("no %q\n%s", call, whole)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q\n%s", got, want, whole)
	}
	// The results of a function exist on the line that declares it.
	got, want = localsOf(whole, "main.oneLine"), []string{"total = 0", "err = error nil"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q\n%s", got, want, whole)
	}
}

// localsOf returns the lines after a function's frame.
func localsOf(text, function string) (lines []string) {
	_, text, _ = strings.Cut(text, "  "+function)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && !strings.HasPrefix(line, "        ") {
			break
		} else if i > 0 {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Frames in a used buffer equal those in a new one.
func TestFramesInUsedBuffer(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "golocals"))
	p.Settle(t)
	s, objects, stacks := takeStacks(t, p.PID)
	reader := variable.NewReader(s, objects)
	textOf := func(frames []variable.Frame) (text string) {
		for i := range frames {
			f := &frames[i]
			cfa, ok := f.CFA()
			text += fmt.Sprintf("%d: %#x %t, %d scopes, %t", i, cfa, ok, len(f.Scopes()), f.Caller() != nil)
			for column := range uint64(unwind.MaxColumns) {
				if v, ok := f.Register(column); ok {
					text += fmt.Sprintf(", %d is %#x", column, v)
				}
			}
			text += "\n"
		}
		return text
	}
	var buffer []variable.Frame
	lengths := make(map[int]bool)
	for range 2 {
		for i := range stacks {
			lengths[len(stacks[i].Frames)] = true
			want := textOf(reader.Frames(&stacks[i], nil))
			buffer = reader.Frames(&stacks[i], buffer)
			if got := textOf(buffer); got != want {
				t.Errorf("thread %d: in a used buffer\n%sin a new one\n%s", stacks[i].Thread.ID, got, want)
			}
		}
	}
	if len(lengths) < 2 {
		t.Errorf("all stacks have as many frames: %v", lengths)
	}
}

// After a Go function, which restores no register, only those of the frame are known, even if
// the machine's rule for C says otherwise.
func TestGoKeepsNoRegisters(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "golocals"))
	p.Settle(t)
	s, objects, stacks := takeStacks(t, p.PID)
	reader := variable.NewReader(s, objects)
	stack := &stacks[0]
	if len(stack.Frames) < 5 {
		t.Fatalf("%d frames", len(stack.Frames))
	}
	frames := reader.Frames(stack, nil)
	for i := range frames {
		f := &frames[i]
		var known []uint64
		for column := range uint64(unwind.MaxColumns) {
			c := int(column)
			if c == s.Machine.StackPointer || c == s.Machine.FramePointer || c == s.Machine.ProgramCounter {
				continue
			}
			if _, ok := f.Register(column); ok {
				known = append(known, column)
			}
		}
		if _, ok := f.Register(uint64(s.Machine.StackPointer)); !ok || (len(known) > 0) != (i == 0) {
			t.Errorf("frame %d: registers %d are known, the stack pointer %t", i, known, ok)
		}
	}
}
