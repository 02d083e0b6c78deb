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
)

// If the kernel's buffers overflow, the output says how many records were lost, and the profile contains
// the others.
func TestRecordLosesSamples(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "shares.c", "-O2", "-pthread"), "1", "0")
	var stdout, stderr bytes.Buffer
	cmd := clew(t, "record", "--no-lines", "--frequency", "4999", strconv.Itoa(p.PID))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	waitRecording(t, cmd.Process.Pid)
	waitUsed(t, 300*time.Millisecond, p.PID)
	// The kernel's buffers have 8 MiB at most for each processor, and a sample with a copy of the stack has 2 KiB
	// or more. A kernel that finds its interrupts slow takes fewer samples than requested.
	cmd.Process.Signal(syscall.SIGSTOP)
	waitUsed(t, 4*time.Second, p.PID)
	cmd.Process.Signal(syscall.SIGCONT)
	// The kernel writes the number of lost records before the next sample, once the buffer has been read.
	waitUsed(t, 500*time.Millisecond, p.PID)
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	m := regexp.MustCompile(`clew record: (\d+) records were lost`).FindStringSubmatch(stderr.String())
	if m == nil {
		t.Fatalf("no record was lost:\n%s\n%s", &stderr, &stdout)
	}
	if !regexp.MustCompile(`[1-9]\d* samples of 1 thread`).MatchString(stdout.String()) || !strings.Contains(stdout.String(), "heavy in ") {
		t.Errorf("no samples:\n%s", &stdout)
	}
}
