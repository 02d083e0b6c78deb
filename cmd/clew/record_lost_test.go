// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
)

// If the kernel's buffers overflow, the output says how many records were lost and what helps, and the profile
// contains the other samples.
func TestRecordLosesSamples(t *testing.T) {
	for _, test := range []struct {
		program, frequency, function, advice string
		args                                 []string
	}{
		{"shares.c", "4999", "heavy", "the machine was too busy to read them; a lower --frequency helps", []string{"1", "0"}},
		{"names.c", "99", "main", "programs start, end, map files or change their names faster than this can be read; record fewer processes", nil},
	} {
		t.Run(test.program, func(t *testing.T) {
			p := testprogram.Start(t, testprogram.Build(t, test.program, "-O2", "-pthread"), test.args...)
			var stdout, stderr bytes.Buffer
			cmd := clew(t, "record", "--no-lines", "--frequency", test.frequency, strconv.Itoa(p.PID))
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() })
			waitRecording(t, cmd.Process.Pid)
			waitUsed(t, 300*time.Millisecond, p.PID)
			// The kernel's buffers have 8 MiB at most for each processor. A sample with a copy of the stack has 2 KiB or
			// more, and a name 64 bytes. A kernel that finds its interrupts slow takes fewer samples than requested.
			cmd.Process.Signal(syscall.SIGSTOP)
			waitUsed(t, 4*time.Second, p.PID)
			cmd.Process.Signal(syscall.SIGCONT)
			// The kernel writes the number of lost records before the next sample, once the buffer has been read.
			waitUsed(t, 500*time.Millisecond, p.PID)
			cmd.Process.Signal(os.Interrupt)
			if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			m := regexp.MustCompile(`clew record: (\d+) records were lost, because (.*)\n`).FindStringSubmatch(stderr.String())
			if m == nil || m[2] != test.advice {
				t.Fatalf("expected %q:\n%s\n%s", test.advice, &stderr, &stdout)
			}
			if !regexp.MustCompile(`[1-9]\d* samples of \d+ threads?`).MatchString(stdout.String()) || !strings.Contains(stdout.String(), test.function+" in ") {
				t.Errorf("no samples:\n%s", &stdout)
			}
		})
	}
}

// The advice about lost records names no flag that has no effect.
func TestLossAdvice(t *testing.T) {
	samples := record.Status{Lost: 1, Bytes: 100, Others: 50}
	for _, test := range []struct {
		flags  recordFlags
		advice string
	}{
		{recordFlags{}, "a lower --frequency helps"},
		{recordFlags{show: perfFlags{event: "page-faults"}}, "a lower --frequency helps"},
		{recordFlags{show: perfFlags{event: "sched:sched_switch"}}, "a larger --period helps"},
		{recordFlags{period: 1}, "a larger --period helps"},
		{recordFlags{offCPU: true}, "record fewer processes"},
		{recordFlags{wall: true}, "record fewer processes"},
	} {
		if got := test.flags.lossAdvice(&samples); got != "the machine was too busy to read them; "+test.advice {
			t.Errorf("%+v: %s", test.flags, got)
		}
	}
}
