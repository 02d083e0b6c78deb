// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// watch is a Watch of a process with the objects of its snapshots.
type watch struct {
	*Watch
	objects *stack.Objects
	sampler *stack.Sampler
	opened  int // files
}

func newWatch(t testing.TB, pid int, opts *Options) *watch {
	t.Helper()
	w, err := NewWatch(pid, opts)
	if err != nil {
		t.Fatal(err)
	}
	x := &watch{Watch: w}
	s := w.Target()
	open := s.Open
	s.Open = func(m *snapshot.Mapping) (*os.File, error) {
		x.opened++
		return open(m)
	}
	x.objects = stack.NewObjects(s)
	x.sampler = x.objects.NewSampler()
	t.Cleanup(func() { x.objects.Close(); w.Close() })
	return x
}

// sample takes a sample.
func (w *watch) sample(t testing.TB) {
	t.Helper()
	_, moved, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	w.sampler.Sample(moved)
}

// functions returns how often a thread was in each innermost function.
func (w *watch) functions(t testing.TB) map[string]int {
	t.Helper()
	if err := w.objects.Name(w.sampler.Stacks, stack.NameOptions{}); err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for i, s := range w.sampler.Stacks {
		if len(s.Frames) > 0 {
			counts[s.Frames[0].Symbol.Name] += w.sampler.Counts[i]
		}
	}
	return counts
}

// Samples of a program that spends three quarters of its time in a function have that
// distribution: within five standard deviations of the binomial distribution, which one run in
// a million exceeds.
func TestWatch(t *testing.T) {
	program := testprogram.Build(t, "ratio.c", "-O1", "-g", "-pthread")
	p := testprogram.Start(t, program)
	eventually(t, "one thread computes and the other sleeps", func() bool {
		s, err := Snapshot(p.PID, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range s.Threads {
			m := s.Mapping(th.Registers.PC)
			if m == nil || th.ID == p.PID && m.Path != program || th.ID != p.PID && threadState(p.PID, th.ID) != 'S' {
				return false
			}
		}
		return len(s.Threads) == 2
	})
	w := newWatch(t, p.PID, nil)
	const wanted = 400
	w.sample(t)
	opened := w.opened
	for {
		// On a busy machine a thread may not stop in time.
		n := 0
		for i, s := range w.sampler.Stacks {
			if s.Thread.ID == p.PID && len(s.Frames) > 0 {
				n += w.sampler.Counts[i]
			}
		}
		if n >= wanted {
			break
		}
		time.Sleep(time.Millisecond / 2)
		w.sample(t)
	}
	if opened == 0 || w.opened != opened {
		t.Errorf("%d files were opened for the first sample, and %d more for the others", opened, w.opened-opened)
	}
	counts := w.functions(t)
	for _, s := range w.sampler.Stacks {
		if len(s.Frames) > 0 && s.Reason != unwind.EndOfStack {
			t.Errorf("a stack in %s ends with %v: %v", s.Frames[0].Symbol.Name, s.Reason, s.Err)
		}
	}
	three, one := counts["three_quarters"], counts["one_quarter"]
	t.Log(counts)
	if between := counts["main"]; between > wanted/50 || three+one+between != wanted {
		t.Errorf("%v are not the %d samples of the thread that computes", counts, wanted)
	}
	n := float64(three + one)
	if d := math.Sqrt(n * 0.75 * 0.25); math.Abs(float64(three)-0.75*n) > 5*d {
		t.Errorf("%d of %.0f samples are in three_quarters, expected %.0f±%.0f", three, n, 0.75*n, 5*d)
	}
	checkReleased(t, p.PID)
}

// A watch notices new mappings and threads, and keeps files open. The end of the process ends the
// watch.
func TestWatchNoticesChanges(t *testing.T) {
	gcc := testprogram.RequireTool(t, "gcc")
	dir := t.TempDir()
	source, library := filepath.Join(dir, "late.c"), filepath.Join(dir, "liblate.so")
	if err := os.WriteFile(source, []byte("#include <unistd.h>\nvoid *late(void *unused) { for (;;) pause(); return unused; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-O1", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	c := start(t, build(t, "late"))
	w := newWatch(t, c.pid, &Options{Timeout: time.Minute})
	w.sample(t)
	before := w.opened
	if got := c.ask(library); got != "loaded" {
		t.Fatal(got)
	}
	// The thread runs until it pauses.
	eventually(t, "the new thread is seen in the new library", func() bool {
		w.sample(t)
		return slices.ContainsFunc(w.sampler.Stacks, func(s stack.Stack) bool {
			return slices.ContainsFunc(s.Frames, func(f stack.Frame) bool { return f.Object != nil && f.Object.Name == library })
		})
	})
	// The loader's own file and the new one, which were not needed before, may have been.
	if w.opened > before+3 {
		t.Errorf("%d files were opened for the new library", w.opened-before)
	}
	for name := range w.functions(t) {
		t.Log(name)
	}
	named := false
	for _, s := range w.sampler.Stacks {
		for _, f := range s.Frames {
			named = named || f.Symbol.Name == "late"
		}
	}
	if !named {
		t.Error("no frame is named late")
	}
	c.stdin.Close()
	c.cmd.Wait()
	if _, _, err := w.Snapshot(); !errors.Is(err, ErrNoProcess) {
		t.Errorf("after the end: %v", err)
	}
}

// In a Go program each thread's stack is copied exactly to its end, with the runtime's data
// about the thread: walks read nothing that changed meanwhile.
func TestWatchGo(t *testing.T) {
	const threads = 12
	c := start(t, testprogram.Build(t, "threads"), fmt.Sprint(threads))
	w := newWatch(t, c.pid, &Options{Timeout: time.Minute})
	for range 3 {
		w.sample(t)
		s := w.Target()
		if p := w.Pauses(); p.Threads != len(s.Threads) || p.Longest <= 0 || p.Longest > p.Total || s.Pause != p.Longest {
			t.Errorf("%d threads stood still for %v, %v at the longest, and the snapshot has %d, and %v", p.Threads, p.Total, p.Longest, len(s.Threads), s.Pause)
		}
		copies := 0
		for i := range s.Threads {
			th := &s.Threads[i]
			copies += len(th.Copies)
			if !slices.IsSortedFunc(th.Copies, func(a, b snapshot.Copy) int { return cmp.Compare(a.Address, b.Address) }) {
				t.Errorf("thread %d: copies that are not in order", th.ID)
			}
		}
		if len(s.Copies) > 0 || copies < 2*threads {
			t.Errorf("%d copies of threads, and %d of none", copies, len(s.Copies))
		}
	}
	if err := w.objects.Name(w.sampler.Stacks, stack.NameOptions{}); err != nil {
		t.Fatal(err)
	}
	s := w.Target()
	depths := make(map[int]bool)
	for _, stack := range w.sampler.Stacks {
		i := slices.IndexFunc(s.Threads, func(th snapshot.Thread) bool { return th.ID == stack.Thread.ID })
		if i < 0 || stack.Reason != unwind.EndOfStack {
			t.Fatalf("the stack of thread %d ends with %v: %v", stack.Thread.ID, stack.Reason, stack.Err)
		}
		depth := 0
		for _, f := range stack.Frames {
			if f.Symbol.Name == "main.recurse" {
				depth++
			}
		}
		if depth == 0 {
			continue
		}
		depths[depth] = true
		// Such a stack has 2, 4 or 8 KiB.
		if th := &s.Threads[i]; len(th.Stack) > 8<<10 {
			t.Errorf("%d bytes of the stack of thread %d were copied", len(th.Stack), th.ID)
		}
	}
	for depth := 1; depth <= threads; depth++ {
		if !depths[depth] {
			t.Errorf("no stack with %d calls of main.recurse: %v", depth, depths)
		}
	}
	checkReleased(t, c.pid)
}

// A process that executes another program is not the one that is watched.
func TestWatchedExecutes(t *testing.T) {
	c := start(t, build(t, "late"))
	w := newWatch(t, c.pid, nil)
	w.sample(t)
	c.ask("exec")
	if _, _, err := w.Snapshot(); !errors.Is(err, ErrNoProcess) || err.Error() != fmt.Sprintf("process %d: no such process: it has executed another program", c.pid) {
		t.Errorf("after the execution: %v", err)
	}
}

// A process with much memory that exits is not reported as executing another program, even
// before all of the memory is free.
func TestWatchedExits(t *testing.T) {
	c := start(t, build(t, "late"))
	w := newWatch(t, c.pid, nil)
	w.sample(t)
	if answer := c.ask("grow"); answer != "grown" {
		t.Fatalf("the process says %q", answer)
	}
	c.stdin.Close()
	for {
		if _, _, err := w.Snapshot(); err != nil {
			if !errors.Is(err, ErrNoProcess) || err.Error() != fmt.Sprintf("process %d: no such process: it has exited", c.pid) {
				t.Errorf("as it exits: %v", err)
			}
			return
		}
	}
}

// BenchmarkWatch takes warm samples of a C program with waiting threads, of one with running
// threads, and of Go programs. The load of the machine changes the pauses, so the benchmark
// reports their median and minimum.
func BenchmarkWatch(b *testing.B) {
	for _, test := range []struct {
		name  string
		start func(b *testing.B) int
	}{
		{"C,threads=1", func(b *testing.B) int { return start(b, build(b, "threads"), "0", "60000").pid }},
		{"C,waiting,threads=65", func(b *testing.B) int {
			return testprogram.Start(b, testprogram.Build(b, "threads65.c", "-O2", "-g")).PID
		}},
		{"C,running,threads=65", func(b *testing.B) int { return start(b, build(b, "threads"), "64", "60000").pid }},
		{"Go,threads=10", func(b *testing.B) int { return start(b, testprogram.Build(b, "threads"), "10").pid }},
		{"Go,threads=100", func(b *testing.B) int { return start(b, testprogram.Build(b, "threads"), "100").pid }},
	} {
		b.Run(test.name, func(b *testing.B) {
			w := newWatch(b, test.start(b), nil)
			w.sample(b)
			b.ReportAllocs()
			var pauses []time.Duration
			var all Pauses
			for b.Loop() {
				w.sample(b)
				p := w.Pauses()
				pauses = append(pauses, p.Longest)
				all.Threads += p.Threads
				all.Total += p.Total
			}
			slices.Sort(pauses)
			b.ReportMetric(float64(all.Total.Nanoseconds())/1e3/float64(all.Threads), "µs/thread")
			b.ReportMetric(float64(pauses[len(pauses)/2].Nanoseconds())/1e3, "µs-longest")
			b.ReportMetric(float64(pauses[0].Nanoseconds())/1e3, "µs-shortest")
		})
	}
}
