// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// stepBuilds are the builds of the program that gdb and sessions step through. The last ones get
// fewer commands.
var stepBuilds = []string{"gcc -O2", "gcc -O0", "clang-14 -O2", "gcc -Og", "gcc -O1", "clang-14 -O0", "gcc -O2 -gdwarf-4"}

// compileSteps compiles testdata/steps.c. It returns the object, and the program linked with the
// C library, statically, because an emulated gdb is slow with dynamic programs.
func compileSteps(t *testing.T, build string) (path, program string) {
	t.Helper()
	words := strings.Fields(build)
	testprogram.RequireTool(t, words[0])
	dir := t.TempDir()
	path, program = filepath.Join(dir, "steps.o"), filepath.Join(dir, "steps")
	source, err := filepath.Abs("testdata/steps.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		append(append([]string{"-g"}, words[1:]...), "-c", "-o", path, source), {"-static", "-o", program, path},
	} {
		if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", words[0], args, err, out)
		}
	}
	return path, program
}

// stepping has commands to repeat from a breakpoint at a location on.
type stepping struct {
	commands, location string
	least              int // places to come to
}

var steppings = []stepping{
	{"step", "main", 150},
	{"next", "main", 15},
	{"finish", "factorial", 2},
	{"finish", "one", 2},
	{"finish", "use", 2},
	{"next", "factorial", 5},
	{"next", "square", 5}, // inlined everywhere
	{"step", "cube", 20},
	{"step step next step finish", "main", 50},
	{"step next step step step finish next next", "inlines", 10},
	{"step finish step step", "calls", 10},
	{"stepi nexti step stepi stepi next nexti stepi nexti finish", "loops", 50},
	{"nexti nexti nexti step nexti next", "inlines", 20},
	{"stepi stepi stepi step stepi stepi next", "inlines", 20},
}

// mostPlaces is the maximum number of places to compare. It is smaller in short tests on an
// emulated machine, where gdb needs a tenth of a second for each.
func mostPlaces() int {
	if testing.Short() && runtime.GOARCH != "amd64" {
		return 24
	}
	return 400
}

// placeOf is gdb's place of the frame: function and line.
var placeOf = regexp.MustCompile(`(?m)^#0  (?:0x[0-9a-f]+ in )?(\S+) \(.*\) at \S*steps\.c:(\d+)$`)

// gdbSteps returns the places at which gdb stops, for each of the steppings.
func gdbSteps(t *testing.T, program string, list []stepping) (all [][]string) {
	t.Helper()
	g := testprogram.StartGDB(t, program)
	g.Do("set print frame-info location\nset print frame-arguments none")
	for _, each := range list {
		var places []string
		commands := strings.Fields(each.commands)
		out := g.Do("break " + each.location + "\nrun\ndelete\nframe")
		for len(places) < mostPlaces() {
			m := placeOf.FindAllStringSubmatch(out, -1)
			if m == nil {
				break
			}
			at := m[len(m)-1]
			places = append(places, at[1]+" "+at[2])
			command := commands[(len(places)-1)%len(commands)]
			if command == "finish" && at[1] == "main" {
				command = "next"
			}
			out = g.Do(command + "\nframe")
		}
		if len(places) == 0 {
			t.Fatalf("gdb does not come to %s:\n%s", each.location, out)
		}
		all = append(all, places)
	}
	return all
}

// sessionSteps returns the places at which a session stops.
func sessionSteps(t *testing.T, path string, each stepping) []string {
	t.Helper()
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	s := newSession(t, i)
	b, err := s.BreakAt(each.location, nil)
	if err != nil {
		t.Fatal(err)
	}
	main, _ := s.Symbol("main")
	stop, err := s.CallMain(main, []string{"steps"}, Arguments{})
	check(t, stop, err, AtBreakpoint)
	var places []string
	at := func() {
		f, err := s.Frame()
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Locations) == 0 {
			t.Fatalf("no source at %#x", f.PC)
		}
		places = append(places, fmt.Sprintf("%s %d", f.Locations[0].Function, f.Locations[0].Line))
	}
	at()
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	commands := strings.Fields(each.commands)
	for len(places) < mostPlaces() {
		command := commands[(len(places)-1)%len(commands)]
		if command == "finish" && strings.HasPrefix(places[len(places)-1], "main ") {
			command = "next"
		}
		var stop *Stop
		var err error
		switch command {
		case "step":
			stop, err = s.StepLine()
		case "next":
			stop, err = s.NextLine()
		case "finish":
			stop, err = s.StepOut(0)
		case "stepi":
			stop, err = s.StepInstruction()
		case "nexti":
			stop, err = s.NextInstruction()
		}
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == Returned {
			break
		}
		if r := stop.Reason; r != SteppedLine && r != SteppedOver && r != SteppedOut && r != SteppedInstruction {
			t.Fatalf("after %q: %v", places, stop)
		}
		at()
	}
	return places
}

// comparePlaces reports the first difference of two lists.
func comparePlaces(t *testing.T, got, want []string, least int) {
	t.Helper()
	for n := range max(len(got), len(want)) {
		if n >= len(got) || n >= len(want) || got[n] != want[n] {
			from := max(0, n-4)
			t.Fatalf("place %d of %d and gdb's %d:\n%s\ngdb is at\n%s", n, len(got), len(want),
				strings.Join(got[min(from, len(got)):min(n+3, len(got))], "\n"), strings.Join(want[min(from, len(want)):min(n+3, len(want))], "\n"))
		}
	}
	if len(want) < min(least, mostPlaces()) {
		t.Errorf("only %d places: %q", len(want), want)
	}
}

func TestStepsVisitTheLinesThatGDBVisits(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	for n, build := range sample.Of(t, stepBuilds, 3) {
		if testing.Short() && n > 0 {
			break
		}
		t.Run(strings.ReplaceAll(build, " ", ""), func(t *testing.T) {
			path, program := compileSteps(t, build)
			list := steppings
			if n >= 3 || n > 0 && !sample.Full() {
				list = list[:3]
			}
			for n, want := range gdbSteps(t, program, list) {
				t.Run(list[n].commands+" from "+list[n].location, func(t *testing.T) {
					comparePlaces(t, sessionSteps(t, path, list[n]), want, list[n].least)
				})
			}
		})
	}
}
