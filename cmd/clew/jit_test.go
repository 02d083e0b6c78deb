// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/testprogram"
)

// The verb jit shows its progress at a terminal, and removes it before it prints.
func TestProgressOfJIT(t *testing.T) {
	testprogram.RequireTool(t, "perf")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	type work struct {
		label string
		ended bool
	}
	var shown []*work
	defer func(original func(string, int, func() bool) (func(int), func())) { output.ShowProgress = original }(output.ShowProgress)
	output.ShowProgress = func(label string, _ int, _ func() bool) (func(int), func()) {
		w := &work{label: label}
		shown = append(shown, w)
		return func(int) {}, func() { w.ended = true }
	}

	dir := t.TempDir()
	perfMap, recording := filepath.Join(dir, "perf.map"), filepath.Join(dir, "perf.data")
	if err := os.WriteFile(perfMap, []byte("1000 20 inner\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("perf", "record", "-q", "-e", "cpu-clock", "-o", recording, "true").CombinedOutput(); err != nil {
		t.Fatalf("perf: %v\n%s", err, out)
	}
	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleep.Process.Kill()
		sleep.Wait()
	}()

	pid := strconv.Itoa(sleep.Process.Pid)
	for _, test := range []struct{ name, want string }{
		{perfMap, "^reading " + perfMap + "$"},
		{recording, "^reading " + recording + "$"},
		{pid, "^reading the generated code of .*" + pid},
	} {
		shown = nil
		target, err := openJIT(test.name, &jitFlags{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		target.close()
		if len(shown) != 1 || !regexp.MustCompile(test.want).MatchString(shown[0].label) || !shown[0].ended {
			t.Errorf("%s: want one work %s that has ended, got:", test.name, test.want)
			for _, w := range shown {
				t.Errorf("  %q, ended: %v", w.label, w.ended)
			}
		}
	}
}
