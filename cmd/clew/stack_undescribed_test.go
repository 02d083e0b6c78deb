// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// Stacks with undescribed generated code of a runtime come with advice on how to get a description.
// With the description there is no advice.
func TestUndescribedCode(t *testing.T) {
	command := func(name string) []string {
		for _, r := range testprogram.Runtimes() {
			if r.Name == name {
				return r.Command(t).Args
			}
		}
		t.Fatalf("no runtime is called %q", name)
		return nil
	}
	// Not all stacks of a running program are in its code.
	stacks := func(p *testprogram.Process, want func(string) bool) (text string) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			out, err := clew(t, "stack", fmt.Sprint(p.PID)).CombinedOutput()
			if text = string(out); err == nil && want(text) {
				return text
			}
		}
		t.Fatalf("never:\n%s", text)
		return ""
	}
	record := func(p *testprogram.Process) string {
		out, err := clew(t, "record", "--duration", "1s", "--stacks", "0", fmt.Sprint(p.PID)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	const note = "no description of the generated code of "
	const recorded = "note: no description of the generated code in the stacks of "
	t.Run("node", func(t *testing.T) {
		args := command("node map")
		if args[1] != "--perf-basic-prof" {
			t.Fatalf("%q", args)
		}
		p := testprogram.Start(t, testprogram.RequireTool(t, args[0]), args[2:]...)
		stacks(p, func(text string) bool {
			return strings.Contains(text, note) && strings.Contains(text, ": start node with --perf-basic-prof --interpreted-frames-native-stack\n")
		})
		if text := record(p); !strings.Contains(text, recorded) || !strings.Contains(text, " samples: start node with --perf-basic-prof --interpreted-frames-native-stack\n") {
			t.Errorf("no advice in:\n%s", text)
		}
		t.Chdir(t.TempDir()) // for V8's log
		p = testprogram.Start(t, testprogram.RequireTool(t, args[0]), args[1:]...)
		t.Cleanup(func() { testprogram.Remove(p.PID) })
		if text := record(p); strings.Contains(text, recorded) {
			t.Errorf("advice although the code is described:\n%s", text)
		}
	})
	t.Run("php", func(t *testing.T) {
		args := command("php list")
		record := func() string {
			// With the start of PHP. The stacks of its code end there.
			out, err := clew(t, append([]string{"record", "--duration", "1s", "--frequency", "999", "--stacks", "0", "--"}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return string(out)
		}
		if text := record(); strings.Contains(text, recorded) {
			t.Errorf("advice although the code is described:\n%s", text)
		}
		debug := slices.Index(args, "opcache.jit_debug=0x100")
		args[debug] = "opcache.jit_debug=0"
		if text := record(); !strings.Contains(text, recorded) || !strings.Contains(text, " samples: start PHP with -d opcache.jit_debug=0x100\n") {
			t.Errorf("no advice in:\n%s", text)
		}
	})
	t.Run("java", func(t *testing.T) {
		args := command("java map")
		p := testprogram.Start(t, testprogram.RequireTool(t, args[0]), args[1:]...)
		t.Cleanup(func() { testprogram.Remove(p.PID) })
		text := stacks(p, func(text string) bool { return strings.Contains(text, note) && strings.Contains(text, "no file") })
		_, noted, _ := strings.Cut(text, note)
		_, advised, _ := strings.Cut(noted, ": run '")
		advised, _, ok := strings.Cut(advised, "'; for whole stacks, also start the JVM with -XX:+PreserveFramePointer\n")
		if want := fmt.Sprintf("jcmd %d Compiler.perfmap", p.PID); !ok || advised != want {
			t.Fatalf("no %q in:\n%s", want, text)
		}
		advice := strings.Fields(advised)
		if out, err := exec.Command(advice[0], advice[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", advice, err, out)
		}
		stacks(p, func(text string) bool {
			return strings.Contains(text, "Spin.") && !strings.Contains(text, note) && !strings.Contains(text, "no file")
		})
	})
}
