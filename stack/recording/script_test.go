// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// compile compiles a program of testdata.
func compile(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	args := append([]string{"-o", out, filepath.Join("testdata", source)}, flags...)
	cmd := exec.Command(testprogram.RequireTool(t, compiler), args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	return out
}

// buildGo builds the Go program of testdata.
func buildGo(t testing.TB, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gosort")
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", out}, flags...), "./testdata/gosort")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	return out
}

// record records a command with perf, and returns the recording's path.
func record(t testing.TB, flags []string, command ...string) string {
	t.Helper()
	perf := testprogram.RequireTool(t, "perf")
	path := filepath.Join(t.TempDir(), "perf.data")
	args := append([]string{"record", "-q", "-o", path, "-F", "997", "-e", "cpu-clock"}, flags...)
	cmd := exec.Command(perf, append(append(args, "--"), command...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		text := stderr.String()
		if strings.Contains(text, "perf_event_paranoid") || strings.Contains(text, "Access to performance monitoring") {
			t.Skip("skipped: perf may not record here")
		}
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	return path
}

// pipe records a command with perf to a stream, which is saved to a file.
func pipe(t testing.TB, flags []string, command ...string) string {
	t.Helper()
	perf := testprogram.RequireTool(t, "perf")
	path := filepath.Join(t.TempDir(), "perf.pipe")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	args := append([]string{"record", "-q", "-o", "-", "-F", "997", "-e", "cpu-clock"}, flags...)
	cmd := exec.Command(perf, append(append(args, "--"), command...)...)
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return path
}

// Stacks equal those of perf script, or are deeper.
func TestLikePerfScript(t *testing.T) {
	testprogram.RequireTool(t, "perf")
	dwarf := []string{"--call-graph", "dwarf,16384"}
	with := func(flags ...string) []string { return append(slices.Clone(dwarf), flags...) }
	plain := compile(t, "gcc", "sort.c", "-O2", "-g", "-fomit-frame-pointer")
	kept := compile(t, "gcc", "sort.c", "-O2", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
	forks := compile(t, "gcc", "forks.c", "-O1", "-g", "-pthread")
	tests := []struct {
		name   string
		path   func(t *testing.T) string
		deeper bool // than perf's are some
	}{
		{"sort", func(t *testing.T) string { return record(t, dwarf, plain, "300") }, false},
		{"frame pointers", func(t *testing.T) string { return record(t, []string{"-g"}, kept, "300") }, false},
		{"frame pointers, dwarf", func(t *testing.T) string { return record(t, dwarf, kept, "300") }, false},
		{"compressed", func(t *testing.T) string { return record(t, with("-z"), plain, "300") }, false},
		{"pipe", func(t *testing.T) string { return pipe(t, dwarf, plain, "300") }, false},
		{"build IDs in mappings", func(t *testing.T) string { return record(t, with("--buildid-mmap"), plain, "300") }, false},
		{"threads, forks and execs", func(t *testing.T) string { return record(t, with("--namespaces"), forks) }, false},
		{"static", func(t *testing.T) string {
			return record(t, dwarf, compile(t, "gcc", "sort.c", "-O2", "-g", "-static"), "300")
		}, false},
		{"no PIE", func(t *testing.T) string {
			return record(t, dwarf, compile(t, "gcc", "sort.c", "-O2", "-g", "-no-pie"), "300")
		}, false},
		{"exceptions", func(t *testing.T) string {
			return record(t, dwarf, compile(t, "g++", "exceptions.cc", "-O2", "-g"))
		}, false},
		{"kernel", func(t *testing.T) string {
			return record(t, dwarf, "dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=2000", "status=none")
		}, false},
		{"no call graph", func(t *testing.T) string { return record(t, nil, plain, "200") }, false},
		{"go", func(t *testing.T) string { return record(t, dwarf, buildGo(t)) }, true},
		{"go, frame pointers", func(t *testing.T) string { return record(t, []string{"-g"}, buildGo(t)) }, false},
		{"go, stripped", func(t *testing.T) string { return record(t, dwarf, buildGo(t, "-ldflags=-s -w")) }, true},
	}
	for _, test := range sample.Of(t, tests, 7) {
		t.Run(test.name, func(t *testing.T) {
			// A program without a processor has few samples.
			few := func(c compared) bool {
				return c.samples < 8 || c.frames < 8 || c.named < 5 || test.deeper && c.deeper == 0
			}
			c := compareScript(t, test.path(t))
			for range 4 {
				if !few(c) || t.Failed() {
					break
				}
				c = compareScript(t, test.path(t))
			}
			t.Logf("%+v", c)
			if few(c) {
				t.Errorf("too few to say something, or none that are deeper than perf's: %+v", c)
			}
		})
	}
}
