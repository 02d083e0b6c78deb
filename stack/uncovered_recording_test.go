// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// A recording reports how many of its stacks can lack callers: here those of a function
// without unwind table and frame pointer, with code that cannot be analysed, between functions
// with a frame pointer.
func TestGapsRecorded(t *testing.T) {
	plain := testprogram.BuildWith(t, "gcc", "uncovered_plain.c", "-O2", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer", "-DOPAQUE", "-c")
	program := testprogram.BuildWith(t, "gcc", "uncovered.c", "-O2", plain, "-fno-omit-frame-pointer")
	p := testprogram.Start(t, program, "plain")
	path := record(t, p.PID)
	rec := recorded(t, path)
	notes := func(rec *recording.Recording, text string) bool {
		return slices.ContainsFunc(rec.Notes, func(note string) bool { return strings.Contains(note, text) })
	}
	if !notes(rec, "can lack callers") {
		t.Errorf("notes %q", rec.Notes)
	}
	// For a stack that is cut too, both are noted.
	both := false
	for most := 2; most < 8; most++ {
		reader, err := perfdata.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := recording.Read(reader, recording.Options{MaxFrames: most})
		reader.Close()
		if err != nil {
			t.Fatal(err)
		}
		both = both || notes(cut, "longer than") && notes(cut, "can lack callers") &&
			!slices.ContainsFunc(cut.Stacks, func(s recording.Stack) bool { return s.Reason == unwind.CallersMissing })
	}
	if !both {
		t.Error("no stack that ends early is noted to lack callers")
	}
	for i := range rec.Stacks {
		if rec.Stacks[i].Reason == unwind.EndOfStack {
			t.Error("a stack that can lack callers counts as whole")
		}
		for _, f := range rec.Frames(&rec.Stacks[i]) {
			if f.Symbol.Name == "inner" {
				t.Error("inner is not left out: the test has no gap")
			}
		}
	}
}

// The stacks of a recording through functions without call frame information are those of the
// source too.
func TestUncoveredRecorded(t *testing.T) {
	for _, flags := range sample.Of(t, [][]string{{"-fno-omit-frame-pointer"}, {"-fomit-frame-pointer"}}, 1) {
		program := buildUncovered(t, "gcc", flags...)
		// The analysis is that of TestUncoveredLive, which has all ways.
		for _, test := range sample.Of(t, uncoveredWays, 3) {
			t.Run(flags[0]+" "+test.way, func(t *testing.T) {
				p := testprogram.Start(t, program, test.way)
				rec := recorded(t, record(t, p.PID))
				want := strings.Fields(test.want)
				var right, all uint64
				for i := range rec.Stacks {
					var names []string
					for _, f := range rec.Frames(&rec.Stacks[i]) {
						if f.Object.Kind() == stack.Kernel {
							continue
						}
						if names = append(names, f.Symbol.Name); f.Symbol.Name == "main" {
							break
						}
					}
					all += rec.Stacks[i].Samples
					if slices.Equal(names, want) && rec.Stacks[i].Reason == unwind.EndOfStack {
						right += rec.Stacks[i].Samples
					} else {
						t.Errorf("%d samples of %q: %v", rec.Stacks[i].Samples, names, rec.Stacks[i].Reason)
					}
				}
				if t.Logf("%d of %d samples", right, all); right == 0 {
					t.Error("no sample")
				}
			})
		}
	}
}

// In a recording of a program of musl, which sorts in its library, the stacks reach the outermost
// function by an analysis of code.
func TestMuslRecorded(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "sorts.c", "-O2", "-static", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
	p := testprogram.Start(t, program)
	reader, err := perfdata.Open(record(t, p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rec, err := recording.Read(reader, recording.Options{Analyzer: new(coderules.Analyzer)})
	if err != nil {
		t.Fatal(err)
	}
	var whole, sorted, all uint64
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		var names []string
		for _, f := range rec.Frames(s) {
			names = append(names, f.Symbol.Name)
		}
		all += s.Samples
		if s.Reason == unwind.EndOfStack && names[len(names)-1] == "_start" && slices.Contains(names, "main") {
			whole += s.Samples
		} else {
			t.Errorf("%d samples of %q: %v", s.Samples, names, s.Reason)
		}
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "qsort") }) {
			sorted += s.Samples
		}
	}
	if t.Logf("%d of %d samples, %d in qsort", whole, all, sorted); sorted == 0 {
		t.Error("no sample in qsort")
	}
}
