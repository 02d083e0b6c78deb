// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package check_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/unwind"
)

// The tables of programs and of the C and C++ libraries agree with executions through
// signal handlers, longjmp and exceptions.
func TestTraceProcess(t *testing.T) {
	protection := map[string]string{"amd64": "-fcf-protection=full", "arm64": "-mbranch-protection=standard"}[runtime.GOARCH]
	tests := []struct {
		compiler, source string
		flags            []string
	}{
		{"gcc", "testdata/signals.c", []string{"-O2"}},
		{"gcc", "testdata/signals.c", []string{"-O0", protection}},
		{"g++", "testdata/exceptions.cc", []string{"-O2"}},
		{"g++", "testdata/exceptions.cc", []string{"-O0", "-fno-omit-frame-pointer"}},
	}
	for _, test := range sample.Of(t, tests, 1) {
		t.Run(fmt.Sprint(test.source, test.flags), func(t *testing.T) {
			testprogram.RequireTool(t, test.compiler)
			path := filepath.Join(t.TempDir(), "program")
			build := exec.Command(test.compiler, append(test.flags, "-no-pie", "-o", path, test.source)...)
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", build, err, text)
			}
			p := stacktest.Step(t, path)
			states := func(yield func(check.TraceState) bool) {
				p.States(func(r *unwind.Registers) bool { return yield(check.TraceState{Registers: r, Memory: p.Memory}) })
			}
			result, err := check.Trace(p.Objects.Snapshot().Machine, &p.Objects.Modules, states, nil)
			if err != nil {
				t.Fatal(err)
			}
			// __longjmp says that its caller is where it jumps to: CFA = rdi.
			jump := make(map[uint64]bool)
			if result.Agree < result.Instructions*9/10 {
				t.Errorf("only %d of %d instructions agree", result.Agree, result.Instructions)
			}
			t.Logf("%d instructions: %d agree, %d disagree, %d undecided", result.Instructions, result.Agree, result.Disagree, result.Undecided)
			for i := range result.Mismatches {
				m := &result.Mismatches[i]
				if m.Register == "CFA" && (m.Rule == "rdi" || m.Rule == "x0") {
					jump[m.PC] = true
				}
				module, _ := p.Objects.Modules.Find(m.PC)
				// Where the unwinder lands an exception, it writes the registers of the
				// handler to where its own frame saves the caller's, and then describes
				// the handler's frame.
				lands := strings.Contains(module.Name, "libgcc_s.so")
				if !jump[m.PC] && !lands {
					t.Errorf("%s+%#x: %v", module.Name, m.PC-module.Bias, m)
				}
			}
		})
	}
}
