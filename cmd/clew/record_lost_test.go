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
	time.Sleep(500 * time.Millisecond)
	// The kernel's buffer has 8 MiB at most, and a sample with a copy of the stack some 8 KiB.
	cmd.Process.Signal(syscall.SIGSTOP)
	most := processorTime(t, p.PID) + 700*time.Millisecond
	for end := time.Now().Add(30 * time.Second); processorTime(t, p.PID) < most && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(500 * time.Millisecond)
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

// processorTime returns the processor time that the threads of a process have used.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	// After the name, in parentheses, are the fields from the third on (proc_pid_stat(5)).
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err := strconv.Atoi(fields[14-3])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user) * 10 * time.Millisecond
}
