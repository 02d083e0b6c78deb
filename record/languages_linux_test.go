// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack/recording"
)

// base returns the name of a function without its parameters and its version, as perf prints it.
func base(name string) string {
	if demangled, ok := style.DemangleFunction(name); ok {
		name = demangled
	}
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "@")
	// Package demangle drops an underscore that begins an identifier in Rust's old mangling.
	return strings.ReplaceAll(strings.TrimSpace(name), "::__", "::_")
}

// shares returns for each function the share of samples with the function on the stack, or with self, the share
// of those in the function itself.
func shares(rec *recording.Recording, self bool) map[string]float64 {
	result := make(map[string]float64)
	for i := range rec.Stacks {
		seen := make(map[string]bool)
		names := functions(rec, &rec.Stacks[i])
		if self {
			names = names[:min(len(names), 1)]
		}
		for _, name := range names {
			if name = base(name); !seen[name] {
				seen[name] = true
				result[name] += float64(rec.Stacks[i].Samples) / float64(rec.Samples)
			}
		}
	}
	return result
}

// perfShare is a line of perf report: with --children the share of samples with a function on the stack, the
// function's own share, and the function.
var perfShare = regexp.MustCompile(`(?m)^ *([0-9.]+)%(?: +[0-9.]+%)? +\[[.k]\] (.*?)(?:  .*)?$`)

// besidePerf records 1500 samples of a process, by perf record --call-graph dwarf too. It also returns the shares
// by perf at the same time, as shares does. What a program does can differ before and after. The recording is that
// of the threads that perf records: perf misses one that begins while it attaches, and all that this one starts.
func besidePerf(t *testing.T, perf string, pid int, self bool) (*recording.Recording, map[string]float64) {
	t.Helper()
	children := map[bool]string{false: "--children", true: "--no-children"}[self]
	data := filepath.Join(t.TempDir(), "perf.data")
	other := exec.Command(perf, "record", "-q", "-F", "999", "-e", "cpu-clock", "-k", "mono", "--call-graph", "dwarf,16384", "-p", strconv.Itoa(pid), "-o", data)
	var messages bytes.Buffer
	other.Stderr = &messages
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- other.Wait() }()
	for begun := false; !begun; { // perf has samples, and handles its signals
		select {
		case err := <-exited:
			t.Fatalf("perf record: %v\n%s", err, messages.Bytes())
		case <-time.After(10 * time.Millisecond):
			info, err := os.Stat(data)
			begun = err == nil && info.Size() > 64<<10
		}
	}
	ctx, options := until(t, 1500, pid)
	context.AfterFunc(ctx, func() { other.Process.Signal(os.Interrupt) })
	rec, err := record.Run(ctx, record.Options{Targets: []int{pid}, Frequency: 999, Recording: options})
	other.Process.Signal(os.Interrupt)
	// perf ends by the signal that has stopped it.
	if err := <-exited; other.ProcessState.ExitCode() > 0 {
		t.Errorf("perf record: %v\n%s", err, messages.Bytes())
	}
	if err != nil {
		t.Fatal(err)
	}
	seconds := func(ns uint64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
	at := seconds(rec.First) + "," + seconds(rec.Last)
	threads, err := exec.Command(perf, "script", "-i", data, "--time", at, "-F", "tid", "-G").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, tid := range strings.Fields(string(threads)) {
		known[tid] = true
	}
	all := rec.Samples
	rec.Stacks = slices.DeleteFunc(rec.Stacks, func(s recording.Stack) bool {
		missed := !known[strconv.Itoa(int(rec.Threads[s.Thread].TID))]
		if missed {
			rec.Samples -= s.Samples
		}
		return missed
	})
	if rec.Samples < all/4 {
		t.Fatalf("perf has the threads of only %d of %d samples: %v", rec.Samples, all, known)
	}
	out, err := exec.Command(perf, "report", "-i", data, "--time", at, children, "--no-inline", "-g", "none", "--sort", "symbol", "--stdio", "-q").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := make(map[string]float64)
	for _, m := range perfShare.FindAllStringSubmatch(string(out), -1) {
		percent, _ := strconv.ParseFloat(m[1], 64)
		theirs[base(m[2])] += percent / 100
	}
	return rec, theirs
}

// equalShares compares shares of two samples of n: five standard deviations of their difference, and a fiftieth.
func equalShares(ours, theirs float64, n uint64) bool {
	return math.Abs(ours-theirs) <= 5*math.Sqrt(theirs*(1-theirs)*2/float64(n))+0.02
}

// Functions of generated code that perf knows by a map have the same shares as by perf.
func TestRuntimesBesidePerf(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	for _, r := range testprogram.Runtimes() {
		if !strings.HasSuffix(r.Name, " map") {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			rec, theirs := besidePerf(t, perf, r.Start(t).PID, true)
			name := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.TrimPrefix(r.Stack[0], ".")) + `\b`)
			sum := func(shares map[string]float64) (sum float64) {
				for function, share := range shares {
					if name.MatchString(function) {
						sum += share
					}
				}
				return sum
			}
			if ours, theirs := sum(shares(rec, true)), sum(theirs); theirs < 0.1 || rec.Samples < 100 || !equalShares(ours, theirs, rec.Samples) {
				t.Errorf("%s: %.1f%% of %d samples, and %.1f%% by perf", name, 100*ours, rec.Samples, 100*theirs)
			}
		})
	}
}

// Stacks of programs in several languages reach the outermost frame, and the shares of functions are those of
// perf record --call-graph dwarf, which records the same process at the same time. perf's stacks of Go end early, so
// that only functions' own shares are compared. Some of Rust's samples cannot be walked, by gdb neither: before
// libgcc enters a landing pad, it replaces the registers that _Unwind_Resume has saved (uw_install_context_1).
func TestLanguages(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	for _, test := range []struct {
		name  string
		build func() string
		args  []string
		self  bool
		above float64 // the shares that are compared
		least int     // how many
	}{
		{"C", func() string { return build(t) }, []string{"1", "0"}, false, 0.1, 5},
		{"C++", func() string { return testprogram.BuildWith(t, "g++", "shares.cc", "-O2", "-fomit-frame-pointer") }, []string{"1", "0"}, false, 0.1, 5},
		{"Rust", func() string { return testprogram.BuildWith(t, "rustc", "shares.rs", "-O") }, []string{"1", "0"}, false, 0.1, 5},
		{"Go", func() string { return testprogram.Build(t, "goshares") }, nil, true, 0.03, 2},
		{"Go with C", func() string { return testprogram.BuildCgo(t, "goshares") }, nil, true, 0.03, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.build()
			p := testprogram.Start(t, path, test.args...)
			rec, theirs := besidePerf(t, perf, p.PID, test.self)
			if share := whole(t, rec, filepath.Base(path)); share < 0.99 || rec.Samples < 100 {
				t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
			}
			ours, compared := shares(rec, test.self), 0
			for name, share := range theirs {
				if share < test.above || strings.HasPrefix(name, "0x") {
					continue
				}
				compared++
				if !equalShares(ours[name], share, rec.Samples) {
					t.Errorf("%s: %.1f%% of the samples, and %.1f%% by perf", name, 100*ours[name], 100*share)
				}
			}
			if compared < test.least {
				t.Errorf("only %d functions were compared: %v", compared, theirs)
			}
		})
	}
}
