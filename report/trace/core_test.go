// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
)

func TestCore(t *testing.T) {
	s := someStacks()
	s.Pause, s.Stacks = 0, s.Stacks[:1]
	s.Core = &trace.Core{
		Path:   "/var/core.42",
		Signal: &snapshot.Signal{Number: 11, Code: 1, Thread: 42, Address: 8, HasAddress: true},
		Missing: []trace.MissingFile{
			{Path: "/lib/libgone.so\x1b", BuildID: []byte{0xab, 0xcd}, Address: 0x7f0000000000, Reason: "it is not there"},
			{Path: "/lib/libold.so", Address: 0x7f0000100000, Reason: "its build ID is 12"},
		},
		Damage: []string{"it is truncated"},
		Advice: "look for them",
	}
	var text, line, indented bytes.Buffer
	if err := s.Text(&text, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "core.text", text.Bytes(), *update)
	if err := s.JSON(&line); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&indented, line.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "core.json", indented.Bytes(), *update)
}

// The process of a core that is truncated before its notes is unknown.
func TestCoreOfUnknownProcess(t *testing.T) {
	s := trace.Threads{Target: trace.Target{Machine: someStacks().Machine, Core: &trace.Core{Path: "part", Damage: []string{"it is truncated"}}}}
	var text bytes.Buffer
	if err := s.Text(&text, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.HasPrefix(got, "core of an unknown process, 0 threads\n") {
		t.Errorf("%q", got)
	}
	text.Reset()
	if err := s.JSON(&text); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.HasPrefix(got, `{"machine":"x86-64","threads":[]`) {
		t.Errorf("%q", got)
	}
	p := profile.New("threads")
	s.AddTo(p)
	if p.Title != "an unknown process" {
		t.Errorf("a profile is titled %q", p.Title)
	}
}

// Text and JSON report unreadable goroutines. Only JSON reports missed files.
func TestMissedGoroutines(t *testing.T) {
	g := trace.Goroutines{Threads: trace.Threads{Target: trace.Target{PID: 42, Machine: someStacks().Machine, Missed: []string{"/lib/libold.so was not used"}}},
		Damage: []string{"the list of all: at 0xc000012000: unmapped"}}
	var text bytes.Buffer
	if err := g.Text(&text, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), "process 42, 0 goroutines\n\nnote: goroutines: the list of all: at 0xc000012000: unmapped\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	text.Reset()
	if err := g.JSON(&text); err != nil {
		t.Fatal(err)
	}
	want := `{"pid":42,"machine":"x86-64","notes":["goroutines: the list of all: at 0xc000012000: unmapped","/lib/libold.so was not used"],"goroutines":[]}` + "\n"
	if got := text.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
