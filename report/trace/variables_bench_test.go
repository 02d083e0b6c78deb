// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package trace_test

import (
	"io"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// BenchmarkArguments measures writing 3,000 frames of 65 threads with their arguments.
func BenchmarkArguments(b *testing.B) { benchmarkArguments(b, false) }

// BenchmarkArgumentsCached is the same with debugging information that was already read.
func BenchmarkArgumentsCached(b *testing.B) { benchmarkArguments(b, true) }

func benchmarkArguments(b *testing.B, cached bool) {
	p := testprogram.Start(b, testprogram.Build(b, "threads65.c", "-O2", "-g"))
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		b.Fatal(err)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		b.Fatal(err)
	}
	frames := 0
	for i := range stacks {
		frames += len(stacks[i].Frames)
	}
	reader := variable.NewReader(s, objects)
	b.ReportAllocs()
	for b.Loop() {
		if !cached {
			reader = variable.NewReader(s, objects)
		}
		r := trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: reader}
		if err := r.Text(io.Discard, trace.Options{AllFrames: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
}
