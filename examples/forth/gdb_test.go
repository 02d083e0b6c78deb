// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package forth_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
)

// pace has commands to repeat from the first stop at a word or a line on. A condition is the
// number that must be on top of the data stack. "watch" watches the first variable.
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

// mostPaces is the maximum number of places to compare. It is smaller in short tests on an
// emulated machine, where gdb needs a tenth of a second for each.
func mostPaces() int {
	if testing.Short() && runtime.GOARCH != "amd64" {
		return 24
	}
	return 300
}

// Registers of words: the top of the data stack, and the data space, which begins with the
// first variable. They have gdb's name and the DWARF column.
var (
	topOfStack = map[string]gdbRegister{"amd64": {"rax", 0}, "arm64": {"x0", 0}}[runtime.GOARCH]
	dataSpace  = map[string]gdbRegister{"amd64": {"r13", 13}, "arm64": {"x21", 21}}[runtime.GOARCH]
)

type gdbRegister struct {
	name   string
	column uint64
}

// atWord is gdb's place of the frame: word and line.
var atWord = regexp.MustCompile(`(?m)^#0  (?:0x[0-9a-f]+ in )?(\S+) \(.*\) at \S*\.fth:(\d+)$`)

// gdbPaces returns the places at which gdb stops in the program in cmd/forth.
func gdbPaces(t *testing.T, name, source, flags string) (all [][]string) {
	t.Helper()
	g := testprogram.StartGDB(t, name)
	// The runtime stops a goroutine every 10 ms that does not yield.
	g.Do("set environment GODEBUG asyncpreemptoff=1\nset startup-with-shell on\nset breakpoint pending on")
	g.Do("handle SIGURG nostop noprint pass\nset print thread-events off\nset print frame-info location\nset print frame-arguments none")
	for _, p := range paces {
		condition := ""
		if p.top >= 0 {
			condition = fmt.Sprintf(" if (long)$%s == %d", topOfStack.name, p.top)
		}
		// gdb forgets the words of the previous process, and has no breakpoints in them.
		out := g.Do("delete\nkill\ntbreak toplevel\nrun " + flags + " " + source + " < /dev/null > /dev/null\n" +
			"set scheduler-locking step\nbreak " + p.location + condition + "\ncontinue")
		commands := strings.Fields(p.commands)
		watching := commands[0] == "watch"
		if commands[0] != "continue" {
			out += g.Do("delete")
		}
		if watching {
			out += g.Do("watch -l *(long *)$" + dataSpace.name)
			commands = []string{"continue"}
		}
		out += g.Do("frame")
		var places []string
		for len(places) < mostPaces() {
			m := atWord.FindAllStringSubmatch(out, -1)
			if m == nil {
				break
			}
			at := m[len(m)-1][1] + " " + m[len(m)-1][2]
			if watching {
				at += " " + strings.TrimSpace(g.Do("output *(long *)$"+dataSpace.name))
			}
			places = append(places, at)
			command := commands[(len(places)-1)%len(commands)]
			if command == "finish" && strings.HasPrefix(at, "toplevel ") {
				command = "next"
			}
			out = g.Do(command + "\nframe")
		}
		if len(places) == 0 {
			t.Fatalf("gdb does not come to %s:\n%s", p.location, out)
		}
		all = append(all, places)
	}
	return all
}

// sessionPaces returns the places at which a session stops in the same program.
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
		top, ok := f.Register(topOfStack.column)
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
	for len(places) < mostPaces() {
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
				watched, _ = f.Register(dataSpace.column)
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

// TestPacesLikeGDB runs the same words in a session and, with gdb, in the process of cmd/forth.
// Steps of all kinds, breakpoints with conditions, and a watchpoint stop at the same lines.
func TestPacesLikeGDB(t *testing.T) {
	source, err := filepath.Abs(filepath.Join("testdata", "paces.fth"))
	if err != nil {
		t.Fatal(err)
	}
	testprogram.RequireTool(t, "gdb")
	name := command(t)
	for _, frames := range sample.Of(t, []bool{false, true}, 1) {
		flags := ""
		if frames {
			flags = "-frame-pointers"
		}
		for n, want := range gdbPaces(t, name, source, flags) {
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
				if len(want) < min(p.least, mostPaces()) {
					t.Errorf("only %d places: %q", len(want), want)
				}
			})
		}
	}
}
