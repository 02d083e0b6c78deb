// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// calleeSaved are the registers of a machine that testdata/stacks.py, and the functions here,
// request from gdb, by the names that both gdb and package arch use.
var calleeSaved = map[string][]string{
	"amd64": {"rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"},
	"arm64": {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "sp"},
}

var (
	gdbThread   = regexp.MustCompile(`^Thread \d+ \(.*(?:LWP|process) (\d+)\b.*\):$`)
	gdbFrameAt  = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?(.*?)(?: \((?:\.\.\.)?\))?(?: (?:at (.*):(\d+)|from .*))?$`)
	gdbRegister = regexp.MustCompile(`^(\w+) +(?:(0x[0-9a-f]+)\b.*|<not saved>)$`)
)

// gdbPrints is gdbReports for a gdb without Python, such as Debian's gdb-minimal. It parses
// gdb's text output.
func gdbPrints(t testing.TB, gdb string, args ...string) map[int]gdbStack {
	t.Helper()
	// An error would drop the rest of a thread's output (-c): on arm64 gdb reports one in the
	// outermost frame, which has no return address.
	for _, command := range []string{
		"set width 0", "set backtrace past-main on", "set backtrace past-entry on", "set backtrace limit unlimited",
		"set print frame-arguments presence", "set print entry-values no", "set print frame-info location-and-address",
		"thread apply all frame apply all -c info frame",
		"thread apply all frame apply all -c info registers pc " + strings.Join(calleeSaved[runtime.GOARCH], " "),
	} {
		args = append(args, "-ex", command)
	}
	args = append([]string{"-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no"}, args...)
	out, err := exec.Command(gdb, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	stacks := make(map[int]gdbStack)
	thread, at := 0, -1
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if m := gdbThread.FindStringSubmatch(line); m != nil {
			thread, _ = strconv.Atoi(m[1])
			at = -1
			continue
		}
		if thread == 0 {
			continue
		}
		s := stacks[thread]
		if m := gdbFrameAt.FindStringSubmatch(line); m != nil {
			at++
			if at == len(s.Frames) {
				f := gdbFrame{Name: strings.TrimSuffix(m[1], "??"), Kind: "normal", File: m[2], Registers: make(map[string]*uint64)}
				f.Line, _ = strconv.Atoi(m[3])
				if f.Name == "<signal handler called>" {
					f.Kind = "signal"
				}
				s.Frames = append(s.Frames, f)
			}
		} else if at < 0 {
			continue
		} else if f := &s.Frames[at]; strings.HasPrefix(line, " inlined into frame ") {
			f.Kind = "inline"
		} else if strings.HasPrefix(line, " tail call frame") {
			f.Kind = "tail call"
		} else if m := gdbRegister.FindStringSubmatch(line); m != nil {
			var value *uint64
			if v, err := strconv.ParseUint(m[2], 0, 64); err == nil {
				value = &v
			}
			if m[1] == "pc" && value != nil {
				f.PC = *value
			} else if f.Kind != "tail call" { // which leaves no frame that registers could be of
				f.Registers[m[1]] = value
			}
		}
		stacks[thread] = s
	}
	if len(stacks) == 0 {
		t.Fatalf("gdb prints no stacks:\n%s", out)
	}
	return stacks
}
