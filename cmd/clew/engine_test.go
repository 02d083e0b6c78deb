// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// All forms of the command walk through an engine with its own stack, in a function of the host that
// it calls and in its own, and copy the other stack while the process stands still.
func TestStackOfEngine(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // a signal would be handled on a third stack
	for mode, inner := range map[string]string{"wait": `main\.host\b.*\bcallHost\b.*\bmiddle\b.*\bouter\b`, "spin": `\bspin\b`} {
		p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), mode)
		frames := regexp.MustCompile(`(?s)` + inner + `.*\benter\b.*call\.Code\b.*main\.main\b`)
		for _, args := range [][]string{nil, {"--goroutines"}, {"--hold"}, {"--json"}, {"--json", "--goroutines"}, {"--watch", "10ms", "-n", "5"}} {
			out, err := clew(t, append([]string{"stack", fmt.Sprint(p.PID)}, args...)...).CombinedOutput()
			if err != nil || !frames.Match(out) || strings.Contains(string(out), "ran on") || strings.Contains(string(out), `"late"`) {
				t.Errorf("%s, %q: %v\n%s", mode, args, err, out)
			}
		}
	}
}

// perf records an engine with its own stack, with a jitdump. By frame pointers both perf and clew perf
// walk from one stack to the other, and lack the engine's functions without one. A copy of the stack
// ends at the function that has changed stacks, which is named and marked.
func TestPerfOfEngine(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	directory := t.TempDir()
	t.Setenv("JITDUMPDIR", directory)
	t.Setenv("CLEW_PERF", "jitdump")
	callers := ` \S*call\.Code\S* .*\n.* main\.\(\*engine\)\.run\S* .*\n.* main\.main\+`
	for _, test := range []struct{ mode, graph, clew, perf string }{
		{"wait", "fp", `main\.host\+.*\n.*` + callers, `main\.host\+.*\n.*` + callers},
		{"wait", "dwarf,16384", ` main\.host\+.*\n.* callHost\+0xe .*\n\s+\[unreadable memory\]\n\n`, ` main\.host\+`},
		{"spin", "fp", ` spin\+.*\n.*` + callers, ` spin\+.*\n.*` + callers},
		{"spin", "dwarf,16384", ` spin\+.*\n.* enter\+0x18 .*\n\s+\[unreadable memory\]\n\n`, ` spin\+.*\n.* enter\+`},
	} {
		t.Run(test.mode+" "+test.graph, func(t *testing.T) {
			p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), test.mode)
			data, injected := filepath.Join(directory, "data"), filepath.Join(directory, "injected")
			recordWork(t, exec.Command(perf, "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "99", "--call-graph", test.graph, "-p", strconv.Itoa(p.PID), "-o", data), p.PID)
			out, err := clew(t, "perf", "--samples", data).Output() // it fails if stacks are not whole
			if !regexp.MustCompile(test.clew).Match(out) {
				t.Errorf("clew perf: %v, expected %s in:\n%s", err, test.clew, out)
			}
			if out, err := exec.Command(perf, "inject", "--jit", "-i", data, "-o", injected).CombinedOutput(); err != nil {
				t.Fatalf("perf inject: %v: %s", err, out)
			}
			out, err = exec.Command(perf, "script", "-i", injected, "-F", "ip,sym,symoff,dso").Output()
			if err != nil || !regexp.MustCompile(test.perf).Match(out) {
				t.Errorf("perf script: %v, expected %s in:\n%s", err, test.perf, out)
			}
		})
	}
}

// recordWork runs perf record until a process has worked for 30 samples: on a busy machine it can get no
// processor for a while.
func recordWork(t *testing.T, record *exec.Cmd, pid int) {
	t.Helper()
	record.Args = append(record.Args, "--", "sh", "-c", "echo begun; exec cat") // from then on perf records
	in, err := record.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := record.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	record.Stderr = &stderr
	if err := record.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line == "begun\n" {
		waitUsed(t, 300*time.Millisecond, pid)
	}
	in.Close()
	if err := record.Wait(); err != nil {
		t.Skipf("skipped: perf record: %v: %s", err, &stderr)
	}
}
