// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/value"
)

// dumpCall is a line of a dump with a function and its arguments.
var dumpCall = regexp.MustCompile(`^(\S.*)\((.*)\)$`)

// argumentsOnQuit returns the arguments of functions in a dump: by goroutine, function
// and address.
func argumentsOnQuit(text string) map[string]string {
	all := make(map[string]string)
	id, name, arguments := "", "", ""
	for _, line := range strings.Split(text, "\n") {
		if m := dumpHeading.FindStringSubmatch(line); m != nil {
			id = m[1]
		} else if m := dumpPlace.FindStringSubmatch(line); m != nil && m[2] != "" {
			all[id+" "+name+" "+m[2]] = arguments
		} else if m := dumpCall.FindStringSubmatch(line); m != nil {
			name, arguments = m[1], m[2]
		}
	}
	return all
}

// Without debugging information, the arguments of Go functions equal those in the program's
// own dump on SIGQUIT, word for word: live, while it runs, and from a core.
func TestGoArgumentsEqualDump(t *testing.T) {
	for _, tt := range []struct {
		name string
		path string
	}{
		{"states", testprogram.Build(t, "states", "-ldflags=-s -w")},
		{"states with C, PIE", testprogram.BuildCgo(t, "states", "-buildmode=pie", "-ldflags=-s -w")},
		{"goarguments", testprogram.Build(t, "goarguments", "-ldflags=-s -w")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testprogram.Start(t, tt.path)
			p.Settle(t)
			ways := map[string]*snapshot.Snapshot{"copied": takeGoroutines(t, p.PID, true), "read": takeGoroutines(t, p.PID, false)}
			got := make(map[string]map[string]string)
			for way, s := range ways {
				got[way] = argumentsTold(t, s)
			}
			if tt.name == "states" { // as gdb, which writes the core, takes long to read the others
				got["core"] = argumentsTold(t, stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot())
			}
			dump := p.Quit()
			want := argumentsOnQuit(dump)
			for way, got := range got {
				compared := 0
				for call, arguments := range got {
					if in, ok := want[call]; ok && in != arguments {
						t.Errorf("%s: %s (%s), expected (%s)", way, call, arguments, in)
					} else if ok {
						compared++
					}
				}
				if compared < 10 {
					t.Errorf("%s: %d frames with arguments are in the dump:\n%s", way, compared, dump)
				}
			}
		})
	}
}

// argumentsTold returns the same as argumentsOnQuit, for frames with arguments that Clew
// knows.
func argumentsTold(t *testing.T, s *snapshot.Snapshot) map[string]string {
	t.Helper()
	all := make(map[string]string)
	eachGoFrame(t, s, func(g *golang.Goroutine, f *stack.Frame, frame *variable.Frame) {
		if arguments, ok := frame.GoArguments(); ok {
			name := typeArguments.ReplaceAllString(trace.FunctionName(f), "[...]")
			all[fmt.Sprintf("%d %s %#x", g.ID, name, f.PC)] = strings.Join(arguments, ", ")
		}
	})
	return all
}

// eachGoFrame visits the frames of the goroutines of a snapshot, except those of the runtime.
func eachGoFrame(t *testing.T, s *snapshot.Snapshot, visit func(*golang.Goroutine, *stack.Frame, *variable.Frame)) {
	t.Helper()
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	list, err := golang.Goroutines(objects, golang.Options{Registers: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := golang.Name(objects, list, stack.NameOptions{Lines: true}); err != nil {
		t.Errorf("names: %v", err)
	}
	reader := variable.NewReader(s, objects)
	for i := range list {
		g := &list[i]
		frames := reader.Frames(&g.Stack, nil)
		for k := range frames {
			visit(g, &g.Stack.Frames[k], &frames[k])
		}
	}
}

// If the runtime knows an argument that is one number, and the function does not assign to it,
// the debugging information gives the same number.
func TestGoArgumentsEqualDebugInfo(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "states"))
	p.Settle(t)
	known := 0
	eachGoFrame(t, takeGoroutines(t, p.PID, true), func(g *golang.Goroutine, f *stack.Frame, frame *variable.Frame) {
		numbers, ok := frame.GoArguments()
		scopes := frame.Scopes()
		if !ok || len(scopes) == 0 || g.Stack.Thread != nil {
			return
		}
		arguments := scopes[len(scopes)-1].Arguments
		if len(arguments) != len(numbers) {
			return
		}
		for k, a := range arguments {
			want, err := strconv.ParseUint(strings.TrimPrefix(numbers[k], "0x"), 16, 64)
			if err != nil {
				continue // it is not known, or several numbers
			}
			got, err := number(a.Read(frame))
			if err != nil {
				continue
			}
			if known++; got != want {
				t.Errorf("goroutine %d: %s: %s is %#x, expected %s", g.ID, trace.FunctionName(f), a.Name, got, numbers[k])
			}
		}
	})
	if known < 8 {
		t.Errorf("%d arguments are known", known)
	}
}

// number returns the number that a value is.
func number(v value.Value) (n uint64, err error) {
	b, err := v.Bytes()
	for k := range b {
		n |= uint64(b[k]) << (8 * k)
	}
	return n, err
}
