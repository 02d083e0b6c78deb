// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/unwind"
)

// tracedFrame is a frame of a traceback that Go's runtime prints.
var tracedFrame = regexp.MustCompile(`(?m)^(\S+)\(.*\)\n\t\S+:\d+.* sp=0x([0-9a-f]+) pc=0x([0-9a-f]+)$`)

// Cores of emulated Go programs on LoongArch have the frames of Go's own traceback of the same
// program, also after a signal handler. (Debian's gdb lacks the machine.)
func TestCoresOfLoongArchEqualGoTraceback(t *testing.T) {
	e := testprogram.Emulations["loong64"]
	program := testprogram.BuildGoFor(t, "loong64", "gofault")
	cmd := exec.Command(testprogram.RequireTool(t, e.QEMU), program, "runtime")
	cmd.Env = append(os.Environ(), "GOTRACEBACK=system")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%q did not crash: %s", cmd.Args, out)
	}
	type frame struct {
		name   string
		pc, up uint64 // up is the stack pointer minus that of the function that faults
	}
	number := func(digits string) uint64 {
		n, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var want []frame
	first, _, _ := strings.Cut(string(out), "\n\n") // the message
	running, _, _ := strings.Cut(strings.TrimPrefix(string(out), first+"\n\n"), "\n\n")
	sp := uint64(0)
	for _, m := range tracedFrame.FindAllStringSubmatch(running, -1) {
		if m[1] == "main.fault" {
			sp = number(m[2])
		}
		if sp != 0 {
			want = append(want, frame{m[1], number(m[3]), number(m[2]) - sp})
		}
	}
	if len(want) != 6 || want[5].name != "runtime.goexit" {
		t.Fatalf("frames %+v of\n%s", want, out)
	}
	for _, test := range []struct {
		handler string
		inner   []string // frames before main.fault
		method  unwind.Method
	}{
		{"default", nil, unwind.FromRegisters},
		{"handler", []string{"main.crash", "main.handler", "<signal handler called>"}, unwind.FromSignal},
	} {
		t.Run(test.handler, func(t *testing.T) {
			path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, program, test.handler)
			s := stacktest.OpenCore(t, path, &core.Options{Program: program}).Snapshot()
			if s.Machine.Name != "loong64" || s.Signal == nil || s.Signal.Name() != "SIGSEGV" || s.Signal.Thread != s.Threads[0].ID {
				t.Errorf("machine %s, signal %+v", s.Machine.Name, s.Signal)
			}
			stacks := stacktest.Stacks(t, s)
			for i := range stacks {
				if !stacks[i].Whole() {
					t.Errorf("thread %d: %v: %v", s.Threads[i].ID, stacks[i].Reason, stacks[i].Err)
				}
			}
			frames := stacks[0].Frames
			var inner []string
			for len(frames) > 0 && trace.FunctionName(&frames[0]) != "main.fault" {
				inner = append(inner, trace.FunctionName(&frames[0]))
				frames = frames[1:]
			}
			if !slices.Equal(inner, test.inner) || len(frames) == 0 || frames[0].Method != test.method {
				t.Fatalf("frames %q, then %d, expected %q", inner, len(frames), test.inner)
			}
			column := uint64(s.Machine.StackPointer)
			sp, _ := frames[0].Registers.Get(column)
			var got []frame
			for i := range frames {
				at, _ := frames[i].Registers.Get(column)
				got = append(got, frame{trace.FunctionName(&frames[i]), frames[i].PC, at - sp})
			}
			if !slices.Equal(got, want) {
				t.Errorf("frames %+v, Go prints %+v", got, want)
			}
		})
	}
}
