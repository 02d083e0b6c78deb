// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package session

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// stepBuilds are how the programs are compiled that gdb and sessions step
// through.
var stepBuilds = []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -Og", "clang-14 -O0", "clang-14 -O2", "gcc -O2 -gdwarf-4"}

// compileSteps compiles testdata/steps.c and returns the object, and the program
// that it makes with the C library.
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
		append(append([]string{"-g"}, words[1:]...), "-c", "-o", path, source), {"-o", program, path},
	} {
		if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", words[0], args, err, out)
		}
	}
	return path, program
}

// gdbSteps returns the places that gdb comes to with a command that is repeated
// from a breakpoint at a location on, up to the end of main or most of them.
func gdbSteps(t *testing.T, program, location, command string, most int) []string {
	t.Helper()
	testprogram.RequireTool(t, "gdb")
	script := filepath.Join(t.TempDir(), "steps.py")
	text := fmt.Sprintf(`
import gdb
def place():
    frame = gdb.selected_frame()
    sal = frame.find_sal()
    if sal.symtab is None or not sal.symtab.filename.endswith('steps.c'): return None
    return '%%s %%d' %% (frame.name(), sal.line)
gdb.execute('break %s')
gdb.execute('run', to_string=True)
gdb.execute('delete')
try:
    for i in range(%d):
        at = place()
        if at is None: break
        print('@' + at)
        gdb.execute('%s', to_string=True)
except gdb.error as e:
    print(e)
`, location, most, command)
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gdb", "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", "set debuginfod enabled off",
		"-ex", "set startup-with-shell off", "-x", script, program)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s%s", err, out, stderr.String())
	}
	var places []string
	for _, line := range strings.Split(string(out), "\n") {
		if at, ok := strings.CutPrefix(line, "@"); ok {
			places = append(places, at)
		}
	}
	return places
}

// sessionSteps is gdbSteps with a session.
func sessionSteps(t *testing.T, path, location string, step func(*Session) (*Stop, error), most int) []string {
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
	b, err := s.BreakAt(location, nil)
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
	for len(places) < most {
		stop, err := step(s)
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == Returned {
			break
		}
		if r := stop.Reason; r != SteppedLine && r != SteppedOver && r != SteppedOut {
			t.Fatalf("after %q: %v", places, stop)
		}
		at()
	}
	return places
}

// comparePlaces tells where two lists part.
func comparePlaces(t *testing.T, got, want []string, least int) {
	t.Helper()
	for n := range max(len(got), len(want)) {
		if n >= len(got) || n >= len(want) || got[n] != want[n] {
			from := max(0, n-4)
			t.Fatalf("place %d of %d and gdb's %d:\n%s\ngdb is at\n%s", n, len(got), len(want),
				strings.Join(got[min(from, len(got)):min(n+3, len(got))], "\n"), strings.Join(want[min(from, len(want)):min(n+3, len(want))], "\n"))
		}
	}
	if len(want) < least {
		t.Errorf("only %d places: %q", len(want), want)
	}
}

func TestStepsVisitTheLinesThatGDBVisits(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	for _, build := range stepBuilds {
		t.Run(strings.ReplaceAll(build, " ", ""), func(t *testing.T) {
			path, program := compileSteps(t, build)
			for _, tt := range []struct {
				command  string
				location string
				least    int
				step     func(*Session) (*Stop, error)
			}{
				{"step", "main", 150, (*Session).StepLine},
				{"next", "main", 15, (*Session).NextLine},
				{"next", "factorial", 5, (*Session).NextLine},
				{"next", "inlines", 5, (*Session).NextLine},
				{"next", "calls", 5, (*Session).NextLine},
				{"next", "loops", 5, (*Session).NextLine},
				{"finish", "factorial", 2, func(s *Session) (*Stop, error) { return s.StepOut(0) }},
				{"finish", "one", 2, func(s *Session) (*Stop, error) { return s.StepOut(0) }},
				{"finish", "use", 2, func(s *Session) (*Stop, error) { return s.StepOut(0) }},
			} {
				t.Run(tt.command+tt.location, func(t *testing.T) {
					want := gdbSteps(t, program, tt.location, tt.command, 600)
					got := sessionSteps(t, path, tt.location, tt.step, 600)
					comparePlaces(t, got, want, tt.least)
				})
			}
		})
	}
}
