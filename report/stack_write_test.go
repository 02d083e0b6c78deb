// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package report_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/process"
	"github.com/clewdev/clew/target/variable"
)

// full refuses what is more than its first write.
type full struct{ written int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.written++; f.written > 1 {
		return 0, errFull
	}
	return len(p), nil
}

// Several processors write the same as one, and stop when nobody reads on.
func TestArgumentsOnAllProcessors(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	s, err := process.Snapshot(p.PID, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := s.Objects()
	defer objects.Close()
	stacks := objects.Walk(target.WalkOptions{Registers: true})
	if err := objects.Name(stacks, target.NameOptions{Lines: true}); err != nil {
		t.Fatal(err)
	}
	text := func(processors int, grouped, all bool) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r := report.Stacks{Target: report.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects), Grouped: grouped}
		var out bytes.Buffer
		if err := r.Text(&out, report.StackOptions{AllFrames: all}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, grouped := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			want := text(1, grouped, all)
			if !strings.Contains(want, "(depth=") {
				t.Fatalf("no arguments:\n%s", want)
			}
			if got := text(4, grouped, all); got != want {
				t.Errorf("grouped %t, all frames %t: on four processors\n%s\non one\n%s", grouped, all, got, want)
			}
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	r := report.Stacks{Target: report.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects)}
	if err := r.Text(new(full), report.StackOptions{AllFrames: true}); !errors.Is(err, errFull) {
		t.Errorf("%v, expected %v", err, errFull)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, there were %d", runtime.NumGoroutine(), before)
		}
	}
}
