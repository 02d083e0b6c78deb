// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/testprogram"
)

// A stack that may lack callers is a partial answer, even if its last frame is the outermost one.
// The exit code shows it, and a mark in the stack and in profiles.
func TestStackWithGap(t *testing.T) {
	plain := testprogram.BuildWith(t, "gcc", "uncovered_plain.c", "-O2", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer", "-DOPAQUE", "-c")
	program := testprogram.BuildWith(t, "gcc", "uncovered.c", "-O2", plain, "-fno-omit-frame-pointer")
	p := testprogram.Start(t, program, "plain")
	for flag, want := range map[string]string{
		"--no-lines": "; callers may be missing before it]",
		"--folded":   "[callers may be missing];_start;",
		"--json":     `"gap":true`,
	} {
		stdout, stderr, code := runToEnd(t, clew(t, "stack", flag, strconv.Itoa(p.PID)))
		if code != output.ExitNo || !strings.Contains(stdout, want) || strings.Contains(stdout, "inner") {
			t.Errorf("%s: exit code %d: %s%s", flag, code, stdout, stderr)
		}
		if note := "is incomplete: callers may be missing"; flag == "--folded" && !strings.Contains(stderr, note) {
			t.Errorf("%q does not say %q", stderr, note)
		}
	}
}

// The stacks of a program of musl, which has no call frame information, are whole. Frames that the
// analysis of code has found say so, in a process and its core.
func TestStackByCode(t *testing.T) {
	program := testprogram.BuildWith(t, "musl-gcc", "blocked.c", "-O2", "-static")
	p := testprogram.Start(t, program)
	p.Settle(t)
	path := filepath.Join(t.TempDir(), "core")
	if text, err := exec.Command(testprogram.RequireTool(t, "gcore"), "-o", path, strconv.Itoa(p.PID)).CombinedOutput(); err != nil {
		t.Fatalf("gcore: %v\n%s", err, text)
	}
	for _, target := range []string{strconv.Itoa(p.PID), path + "." + strconv.Itoa(p.PID)} {
		for flag, want := range map[string]string{"--no-lines": " [by code analysis]\n", "--json": `"method":"code"`} {
			stdout, stderr, code := runToEnd(t, clew(t, "stack", flag, target))
			if code != 0 || strings.Count(stdout, want) < 10 || !strings.Contains(stdout, "main") {
				t.Errorf("%s %s: exit code %d: %s%s", flag, target, code, stdout, stderr)
			}
		}
	}
}
