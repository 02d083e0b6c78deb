// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package forth_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
)

// pace is commands that are repeated, from the first stop at a word or a line on. With
// a condition the number on top of the data stack has to be that; "watch" has the
// first variable watched.
type pace struct {
	commands, location string
	top                int64 // -1: whatever it is
	least              int   // places to come to
}

var paces = []pace{
	{"step", "walk", -1, 100},
	{"next", "walk", -1, 4},
	{"next", "fib", -1, 5},
	{"next", "fib", 3, 5},
	{"next", "squares", -1, 15},
	{"step", "fib", 2, 10},
	{"step", "squares", -1, 30},
	{"finish", "fib", 1, 3},
	{"finish", "square", 4, 2},
	{"finish", "add", -1, 3},
	{"step next", "walk", -1, 20},
	{"step step next step finish", "walk", -1, 20},
	{"next step finish next", "squares", -1, 8},
	{"stepi nexti stepi step nexti next stepi finish", "down", -1, 8},
	{"step next finish step", "paces.fth:25", -1, 5},
	{"continue", "fib", 1, 6},
	{"continue", "fib", 0, 4},
	{"continue", "square", -1, 6},
	{"continue", "paces.fth:19", -1, 7},
	{"continue", "paces.fth:31", -1, 2},
	{"watch", "walk", -1, 8},
}

// mostPaces is where the comparison ends if the program does not.
const mostPaces = 300

// gdbPaces returns the places that gdb comes to in the program that cmd/forth hosts.
func gdbPaces(t *testing.T, source string, flags string) [][]string {
	t.Helper()
	testprogram.RequireTool(t, "gdb")
	name := command(t)
	script := filepath.Join(t.TempDir(), "paces.py")
	text := fmt.Sprintf("import gdb\nmost = %d\narguments = %q\n", mostPaces, flags+" "+source) + `
for each in ('handle SIGURG nostop noprint pass', 'set print thread-events off'): gdb.execute(each, to_string=True)
def place():
    frame = gdb.selected_frame()
    sal = frame.find_sal()
    if sal.symtab is None or not sal.symtab.filename.endswith('.fth'): return None
    return '%s %d' % (frame.name(), sal.line)
def visit(location, top, commands):
    print('\n@@')
    gdb.execute('delete')
    # The words of the process before are forgotten with it, and no breakpoint is there.
    if gdb.selected_inferior().pid: gdb.execute('kill', to_string=True)
    condition = ' if (long)$rax == %d' % top if top >= 0 else ''
    gdb.execute('tbreak toplevel', to_string=True)
    gdb.execute('run ' + arguments + ' < /dev/null > /dev/null', to_string=True)
    gdb.execute('set scheduler-locking step')
    gdb.execute('break ' + location + condition, to_string=True)
    gdb.execute('continue', to_string=True)
    watching = commands == ['watch']
    if commands != ['continue']: gdb.execute('delete')
    if watching:
        gdb.execute('watch -l *(long *)$r13', to_string=True)
        commands = ['continue']
    for i in range(most):
        at = place()
        if at is None: break
        if watching: at += ' %d' % int(gdb.parse_and_eval('*(long *)$r13'))
        print('\n@' + at)
        command = commands[i % len(commands)]
        if command == 'finish' and at.startswith('toplevel '): command = 'next'
        gdb.execute(command, to_string=True)
`
	for _, p := range paces {
		text += fmt.Sprintf("try: visit(%q, %d, %q.split())\nexcept gdb.error as e: print(e)\n", p.location, p.top, p.commands)
	}
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := gdb(t, "set confirm off\nset startup-with-shell on\nsource "+script+"\n", name)
	var all [][]string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "@@" {
			all = append(all, nil)
		} else if at, ok := strings.CutPrefix(line, "@"); ok {
			all[len(all)-1] = append(all[len(all)-1], at)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("gdb says\n%s", out)
		}
	})
	if len(all) != len(paces) {
		t.Fatalf("%d of %d answers of gdb:\n%s", len(all), len(paces), out)
	}
	return all
}

// sessionPaces returns the places that a session comes to in the same program.
func sessionPaces(t *testing.T, source string, options forth.Options, p pace) (places []string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	options.Entry = true
	program, err := forth.Compile(source, text, &options)
	if err != nil {
		t.Fatal(err)
	}
	loaded, s := debugged(t, program, nil)
	b, err := s.BreakAt(p.location, &session.BreakpointOptions{Condition: func(f *session.Frame) (bool, error) {
		top, ok := f.Register(0) // rax
		return p.top < 0 || ok && int64(top) == p.top, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	function, words, err := loaded.Enter(forth.TopLevel)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(function, words[:]...)
	if err != nil {
		t.Fatal(err)
	}
	if stop.Reason != session.AtBreakpoint {
		t.Fatalf("%v", stop)
	}
	commands := strings.Fields(p.commands)
	watching := commands[0] == "watch"
	var watched uint64
	if commands[0] != "continue" {
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
	for len(places) < mostPaces {
		f, err := s.Frame()
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Locations) == 0 {
			break // it has left the words
		}
		at := fmt.Sprintf("%s %d", f.Locations[0].Function, f.Locations[0].Line)
		if watching {
			if watched == 0 {
				watched, _ = f.Register(13)
				if _, err := s.Watch(watched, 8, session.Change, nil); err != nil {
					t.Fatal(err)
				}
			}
			var value [8]byte
			if err := s.ReadMemory(value[:], watched); err != nil {
				t.Fatal(err)
			}
			at += fmt.Sprintf(" %d", binary.LittleEndian.Uint64(value[:]))
		}
		places = append(places, at)
		command := commands[(len(places)-1)%len(commands)]
		if command == "finish" && strings.HasPrefix(at, "toplevel ") {
			command = "next"
		}
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
		default:
			stop, err = s.Continue()
		}
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == session.Returned {
			break
		}
		switch stop.Reason {
		case session.SteppedLine, session.SteppedOver, session.SteppedOut, session.SteppedInstruction, session.AtBreakpoint, session.AtWatchpoint:
		default:
			t.Fatalf("after %q: %v", places, stop)
		}
	}
	return places
}

// TestPacesLikeGDB goes through the same words in a session and, with gdb, in the
// process that cmd/forth is: steps of all kinds, breakpoints with conditions, and a
// watchpoint come to the same lines.
func TestPacesLikeGDB(t *testing.T) {
	source, err := filepath.Abs(filepath.Join("testdata", "paces.fth"))
	if err != nil {
		t.Fatal(err)
	}
	for _, frames := range []bool{false, true} {
		flags := ""
		if frames {
			flags = "-frame-pointers"
		}
		if frames && testing.Short() {
			break
		}
		for n, want := range gdbPaces(t, source, flags) {
			p := paces[n]
			t.Run(fmt.Sprintf("%s from %s %d frames=%t", p.commands, p.location, p.top, frames), func(t *testing.T) {
				got := sessionPaces(t, source, forth.Options{FramePointers: frames}, p)
				for i := range max(len(got), len(want)) {
					if i >= len(got) || i >= len(want) || got[i] != want[i] {
						from := max(0, i-4)
						t.Fatalf("place %d of %d and gdb's %d:\n%s\ngdb is at\n%s", i, len(got), len(want),
							strings.Join(got[min(from, len(got)):min(i+3, len(got))], "\n"), strings.Join(want[min(from, len(want)):min(i+3, len(want))], "\n"))
					}
				}
				if len(want) < p.least {
					t.Errorf("only %d places: %q", len(want), want)
				}
			})
		}
	}
}
