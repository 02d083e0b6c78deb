// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// whole returns the share of samples that reach the outermost frame, and logs the others. Samples while
// Go's runtime grows a stack do not count: only memory of the runtime says where the goroutine's stack is.
func whole(t *testing.T, rec *recording.Recording, of string) float64 {
	t.Helper()
	reached, all, grows := uint64(0), uint64(0), uint64(0)
	ends := make(map[string]uint64)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		if filepath.Base(rec.Threads[s.Thread].Process) != of {
			continue
		}
		all += s.Samples
		if s.Reason == unwind.EndOfStack || s.Reason == unwind.CallersMissing {
			reached += s.Samples
			continue
		}
		names := functions(rec, s)
		if strings.HasPrefix(names[len(names)-1], "runtime.morestack") {
			all -= s.Samples
			grows += s.Samples
			continue
		}
		ends[fmt.Sprint(s.Reason, " at ", names[max(0, len(names)-3):])] += s.Samples
	}
	for end, n := range ends {
		t.Logf("%d samples end with %s", n, end)
	}
	t.Logf("%d of %d samples reach the outermost frame; %d more grow a stack", reached, all, grows)
	if all < 20*grows {
		return 0
	}
	return float64(reached) / float64(all)
}

// Samples of Go's runtime, which runs on another stack than its caller, reach the outermost frame of the
// caller, in programs with C code too.
func TestGo(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func() string
	}{
		{"plain", func() string { return testprogram.Build(t, "goshares") }},
		{"cgo", func() string { return testprogram.BuildCgo(t, "goshares") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.build()
			ctx, options := untilProgram(t, 1000, path)
			rec, err := record.Run(ctx, record.Options{Command: exec.Command(path), Frequency: 999, Recording: options})
			if err != nil {
				t.Fatal(err)
			}
			if share := whole(t, rec, filepath.Base(path)); share < 0.99 || rec.Samples < 200 {
				t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
			}
		})
	}
}

// Samples of generated code reach the outermost frame, through the code's own unwind tables or frame
// pointers, and name the functions.
func TestRuntimes(t *testing.T) {
	name := func(r testprogram.Runtime) []string { return strings.Fields(r.Name) }
	for _, r := range sample.Covering(t, testprogram.Runtimes(), 5, name) {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			ctx, opts := until(t, 500, p.PID)
			rec, err := record.Run(ctx, record.Options{Targets: []int{p.PID}, Frequency: 999, Recording: opts})
			if err != nil {
				t.Fatal(err)
			}
			named := uint64(0)
			for i := range rec.Stacks {
				if goesThrough(functions(rec, &rec.Stacks[i]), r.Stack) {
					named += rec.Stacks[i].Samples
				}
			}
			if named*100 < 98*rec.Samples || rec.Samples < 500 {
				t.Errorf("%d of %d samples have frames with the names %q", named, rec.Samples, r.Stack)
			}
			// PHP's jitdump and perf map have no unwind tables, and its code has no frame pointers.
			bare := r.Name == "php map" || r.Name == "php jitdump"
			if share := whole(t, rec, rec.Threads[0].Process); share < 0.98 && !bare {
				t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
			}
		})
	}
}

// Samples of generated code that nothing describes reach the outermost frame through frame pointers.
func TestUndescribedCode(t *testing.T) {
	p := testprogram.Start(t, testprogram.RequireTool(t, "node"), testprogram.Path("programs/spin.js"))
	ctx, opts := until(t, 500, p.PID)
	rec, err := record.Run(ctx, record.Options{Targets: []int{p.PID}, Frequency: 999, Recording: opts})
	if err != nil {
		t.Fatal(err)
	}
	if share := whole(t, rec, rec.Threads[0].Process); share < 0.98 || rec.Samples < 500 {
		t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
	}
	ofScript := regexp.MustCompile(`\b(spin|deep)\b`) // not the kernel's _raw_spin_lock
	for i := range rec.Stacks {
		if names := functions(rec, &rec.Stacks[i]); slices.ContainsFunc(names, ofScript.MatchString) {
			t.Errorf("a function of the script is named in %q", names)
		}
	}
}

// goesThrough reports whether successive names contain those of some functions.
func goesThrough(names, functions []string) bool {
	for i := range names {
		if i+len(functions) <= len(names) && slices.EqualFunc(names[i:i+len(functions)], functions, strings.Contains) {
			return true
		}
	}
	return false
}

// A function that replaces another one at its address has its own name, by the time of a sample. A list has
// no times: samples between a look at it and the next one, which finds another function, have no name. A jitdump
// has times, so all samples have names, also while recording, when it is read for a part of the time only.
func TestReplacedCode(t *testing.T) {
	path := testprogram.Build(t, "replaces")
	for _, test := range []struct {
		name, publisher string
		period          string // milliseconds
		right           uint64 // percent, while recording
	}{
		{"list", "", "500", 10},
		{"jitdump", "jitdump", "5", 98},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(path, test.period)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "CLEW_PERF="+test.publisher, "JITDUMPDIR="+cmd.Dir)
			ctx, options := untilProgram(t, 1500, path)
			var raw bytes.Buffer
			rec, err := record.Run(ctx, record.Options{Command: cmd, Frequency: 499, Raw: &raw, Recording: options})
			if err != nil {
				t.Fatal(err)
			}
			checkReplaced(t, rec, test.right)
			if test.publisher == "" {
				return
			}
			r, err := perfdata.NewReader(&raw)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if rec, err = recording.Read(r, recording.Options{}); err != nil {
				t.Fatal(err)
			}
			checkReplaced(t, rec, 98)
		})
	}
}

// checkReplaced checks that no sample has the name of another function than the one that was called, and that a
// share in percent has names.
func checkReplaced(t *testing.T, rec *recording.Recording, share uint64) {
	t.Helper()
	right, all := uint64(0), uint64(0)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		names := functions(rec, s)
		at := slices.Index(names, "main.run")
		if at < 1 || at+1 == len(names) || strings.Contains(names[at-1], ".") {
			continue
		}
		if isKernel(rec, s, at-1) { // it interrupted run itself
			continue
		}
		all += s.Samples
		switch number := strings.TrimPrefix(names[at+1], "main.call"); names[at-1] {
		case "generated" + number:
			right += s.Samples
		case "":
		default:
			t.Errorf("%d samples are in %q", s.Samples, names)
		}
	}
	t.Logf("%d of %d samples have a name; %q", right, all, rec.Notes)
	if all < 100 || right*100 < all*share {
		t.Errorf("%d of %d samples have a name, and fewer than %d%%; %q", right, all, share, rec.Notes)
	}
}

// isKernel reports whether a frame of a stack is in the kernel.
func isKernel(rec *recording.Recording, s *recording.Stack, level int) bool {
	for _, f := range rec.Frames(s) {
		if level == 0 {
			return f.Address>>63 == 1
		}
		level--
	}
	return false
}

// Samples have the profiler labels of their goroutine, or none if these are not certain, which a note says.
func TestGoLabels(t *testing.T) {
	path := testprogram.Build(t, "golabels")
	expected := map[string]string{"main.spinOuter": "route=outer ", "main.spinInner": "route=outer step=inner ", "main.spinInherited": "route=inherited ", "main.spinNone": ""}
	for _, step := range []string{"200", "20", "0"} {
		t.Run(step+" ms", func(t *testing.T) {
			// Main takes four steps in turns, of 100 samples each, beside another goroutine, which can get most
			// of the time.
			ctx, options := untilProgram(t, 2500, path)
			rec, err := record.Run(ctx, record.Options{Command: exec.Command(path, step), Frequency: 499, Recording: options})
			if err != nil {
				t.Fatal(err)
			}
			labelled, all := make(map[string]uint64), make(map[string]uint64)
			for i := range rec.Stacks {
				s := &rec.Stacks[i]
				text := ""
				for key, value := range rec.Threads[s.Thread].Labels() {
					text += key + "=" + value + " "
				}
				names := functions(rec, s)
				at := slices.IndexFunc(names, func(name string) bool { _, ok := expected[name]; return ok })
				if at < 0 {
					continue
				}
				all[names[at]] += s.Samples
				switch text {
				case expected[names[at]]:
					labelled[names[at]] += s.Samples
				case "":
				default:
					t.Errorf("%d samples in %s have the labels %q", s.Samples, names[at], text)
				}
			}
			t.Logf("%v of %v samples have labels; %q", labelled, all, rec.Notes)
			if step == "0" && !slices.ContainsFunc(rec.Notes, func(note string) bool { return strings.HasPrefix(note, "the labels of goroutines are unknown") }) {
				t.Errorf("no note on unknown labels: %q", rec.Notes)
			}
			for name := range expected {
				if step == "200" && (all[name] < 20 || labelled[name]*100 < all[name]*30) {
					t.Errorf("%s: %d of %d samples have labels", name, labelled[name], all[name])
				}
			}
		})
	}
}

// Each interval names generated code, also code that was known before, and that was added since.
func TestIntervalsOfGeneratedCode(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		if r.Name != "lli list" && r.Name != "forth map" && r.Name != "forth jitdump" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			n := 0
			check := func(rec *recording.Recording) error {
				named := uint64(0)
				for i := range rec.Stacks {
					if goesThrough(functions(rec, &rec.Stacks[i]), r.Stack) {
						named += rec.Stacks[i].Samples
					}
				}
				if n++; rec.Samples >= 20 && named*100 < 95*rec.Samples {
					t.Errorf("interval %d: %d of %d samples have frames with the names %q; %q", n, named, rec.Samples, r.Stack, rec.Notes)
				}
				return nil
			}
			rec, err := record.Run(context.Background(), record.Options{Targets: []int{p.PID}, Frequency: 499, Duration: 2 * time.Second,
				Every: 400 * time.Millisecond, Interval: check})
			if err != nil {
				t.Fatal(err)
			}
			if check(rec); n < 3 {
				t.Errorf("%d intervals", n)
			}
		})
	}
}
