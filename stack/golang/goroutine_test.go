// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// said is a goroutine as its own program's dump on SIGQUIT or Clew describes it.
type said struct {
	state   string   // "chan receive, locked to thread"
	minutes int      // that it has waited
	frames  []string // "main.f /src/main.go:7 0x4a2865", inlined calls without an address
	created string   // "main.main in goroutine 1 /src/main.go:7"
}

var (
	dumpHeading = regexp.MustCompile(`^goroutine (\d+) (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[(.*)\]:$`)
	dumpMinutes = regexp.MustCompile(`, (\d+) minutes`)
	dumpPlace   = regexp.MustCompile(`^\t(\S+:\d+)(?: \+0x[0-9a-f]+)?(?: fp=\S+ sp=\S+ pc=(\S+))?$`)
)

// onQuit parses the runtime's dump of all goroutines.
func onQuit(t *testing.T, text string) map[uint64]said {
	t.Helper()
	all := make(map[uint64]said)
	id, name, in := uint64(0), "", false
	var g said
	for _, line := range append(strings.Split(text, "\n"), "") {
		if m := dumpHeading.FindStringSubmatch(line); m != nil {
			id, _ = strconv.ParseUint(m[1], 10, 64)
			g, in = said{state: m[2]}, id != 0 // 0 is the scheduler
			if m := dumpMinutes.FindStringSubmatch(g.state); m != nil {
				g.state = strings.Replace(g.state, m[0], "", 1)
				g.minutes, _ = strconv.Atoi(m[1])
			}
		} else if !in {
			continue
		} else if line == "" {
			all[id], in = g, false
		} else if m := dumpPlace.FindStringSubmatch(line); m == nil {
			name = line
		} else if caller, ok := strings.CutPrefix(name, "created by "); ok {
			g.created = caller + " " + m[1]
		} else {
			name = name[:strings.LastIndexByte(name, '(')]
			if name == "panic" {
				name = "runtime.gopanic"
			}
			g.frames = append(g.frames, strings.TrimSpace(name+" "+m[1]+" "+m[2]))
		}
	}
	if len(all) < 10 {
		t.Fatalf("the dump has %d goroutines:\n%s", len(all), text)
	}
	return all
}

// typeArguments matches those of generic functions, which the runtime omits.
var typeArguments = regexp.MustCompile(`\[[^]]*\]`)

// described returns Clew's description of a goroutine.
func described(g *golang.Goroutine) (s said) {
	s.state, s.minutes = g.Name, int(g.Waited/time.Minute)
	if g.Locked {
		s.state += ", locked to thread"
	}
	function := func(name string) string { return typeArguments.ReplaceAllString(name, "[...]") }
	for i := range g.Stack.Frames {
		f := &g.Stack.Frames[i]
		for k := range f.Locations {
			l := &f.Locations[k]
			name, pc := l.Function, ""
			if k == len(f.Locations)-1 {
				name, pc = trace.FunctionName(f), fmt.Sprintf("%#x", f.PC)
			}
			s.frames = append(s.frames, strings.TrimSpace(fmt.Sprintf("%s %s:%d %s", function(name), l.File, l.Line, pc)))
		}
	}
	if f := g.Created; f != nil {
		s.created = function(trace.FunctionName(f))
		if g.Parent != 0 {
			s.created += fmt.Sprintf(" in goroutine %d", g.Parent)
		}
		s.created += fmt.Sprintf(" %s:%d", f.Locations[0].File, f.Locations[0].Line)
	}
	return s
}

// goroutinesOf returns all goroutines of a snapshot, with names.
func goroutinesOf(t testing.TB, s *snapshot.Snapshot, opts golang.Options) []golang.Goroutine {
	t.Helper()
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	list, err := golang.Goroutines(objects, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := golang.Name(objects, list, stack.NameOptions{Lines: true}); err != nil {
		t.Errorf("names: %v", err)
	}
	return list
}

// takeGoroutines takes a snapshot of a process with its goroutines, or only with those that
// threads run.
func takeGoroutines(t testing.TB, pid int, all bool) *snapshot.Snapshot {
	t.Helper()
	s, err := process.Snapshot(pid, &process.Options{Timeout: 2 * time.Minute, Goroutines: all})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// All goroutines of a program, in every stable state, equal the program's own dump on SIGQUIT:
// their IDs, states, frames with addresses and lines, and creators; live, while the process
// runs, and from a core; with symbols and stripped, with and without C.
func TestGoroutinesEqualDump(t *testing.T) {
	for _, tt := range []struct {
		name string
		path string
	}{
		{"Go", testprogram.Build(t, "states")},
		{"stripped", testprogram.Build(t, "states", "-ldflags=-s -w")},
		{"cgo", testprogram.BuildCgo(t, "states")},
		{"cgo, stripped, PIE", testprogram.BuildCgo(t, "states", "-buildmode=pie", "-ldflags=-s -w")},
		{"cgo, linked by Go", testprogram.BuildCgo(t, "states", "-ldflags=-linkmode=internal")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testprogram.Start(t, tt.path)
			p.Settle(t)
			ways := map[string][]golang.Goroutine{
				"copied": goroutinesOf(t, takeGoroutines(t, p.PID, true), golang.Options{System: true}),
				"read":   goroutinesOf(t, takeGoroutines(t, p.PID, false), golang.Options{System: true}),
			}
			if tt.name == "stripped" { // as gdb, which writes the core, takes long to read the others
				ways["core"] = goroutinesOf(t, stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil).Snapshot(), golang.Options{System: true})
			}
			want := onQuit(t, p.Quit())
			for way, list := range ways {
				got := make(map[uint64]said)
				for i := range list {
					g := &list[i]
					got[g.ID] = described(g)
					if g.Stack.Reason != unwind.EndOfStack {
						t.Errorf("%s: goroutine %d: %v: %v", way, g.ID, g.Stack.Reason, g.Stack.Err)
					}
					if system := strings.HasPrefix(want[g.ID].created, "runtime."); system != g.System {
						t.Errorf("%s: goroutine %d, created by %q, is the runtime's: %v", way, g.ID, want[g.ID].created, g.System)
					}
					if want := slices.ContainsFunc(got[g.ID].frames, func(f string) bool { return strings.HasPrefix(f, "main.read ") || strings.HasPrefix(f, "main.inC ") }); want != (g.Stack.Thread != nil) {
						t.Errorf("%s: goroutine %d is on thread %v", way, g.ID, g.Stack.Thread)
					}
				}
				compareGoroutines(t, way, got, want, list)
			}
		})
	}
}

// compareGoroutines fails unless each goroutine is as expected. The runtime's own may be at
// work. For a goroutine in a system call, the program's dump only has the frames in Go.
func compareGoroutines(t *testing.T, way string, got, want map[uint64]said, list []golang.Goroutine) {
	t.Helper()
	if ids := slices.Sorted(maps.Keys(got)); !slices.Equal(ids, slices.Sorted(maps.Keys(want))) {
		t.Errorf("%s: goroutines %d, expected %d", way, ids, slices.Sorted(maps.Keys(want)))
	}
	waiting := 0
	for i := range list {
		g := &list[i]
		a, b := got[g.ID], want[g.ID]
		if a.created != b.created {
			t.Errorf("%s: goroutine %d was created by %q, expected %q", way, g.ID, a.created, b.created)
		}
		if g.System {
			continue
		}
		if a.state != b.state {
			t.Errorf("%s: goroutine %d: %q, expected %q", way, g.ID, a.state, b.state)
		}
		if a.minutes > b.minutes { // as the dump is later
			t.Errorf("%s: goroutine %d waits for %v, and %d minutes later", way, g.ID, g.Waited, b.minutes)
		}
		if g.Waited > 0 {
			waiting++
		}
		frames := a.frames
		if g.Stack.Thread != nil && len(b.frames) > 0 {
			// The dump has the innermost function where it was about to leave Go.
			frames = slices.Clone(frames[max(0, len(frames)-len(b.frames)):])
			function, _, _ := strings.Cut(b.frames[0], " ")
			if strings.HasPrefix(frames[0], function+" ") {
				frames[0] = b.frames[0]
			}
		}
		if !slices.Equal(frames, b.frames) || len(frames) == 0 {
			t.Errorf("%s: goroutine %d, %s:\n%s\nexpected\n%s", way, g.ID, b.state, strings.Join(a.frames, "\n"), strings.Join(b.frames, "\n"))
		}
	}
	// The garbage collector noticed when they started to wait; a core lacks the current time.
	if (waiting == 0) != (way == "core") {
		t.Errorf("%s: of %d goroutines it is known for how long they wait", way, waiting)
	}
}
