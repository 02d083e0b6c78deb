// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// waitRecording waits until a process has mapped the buffers of perf events. On a busy machine it does not
// begin to record for seconds.
func waitRecording(t *testing.T, pid int) {
	t.Helper()
	path := fmt.Sprintf("/proc/%d/maps", pid)
	waitFor(t, "the process does not begin to record", func() bool {
		maps, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(maps, []byte("[perf_event]"))
	})
}

// waitUsed waits until each of some processes has used more processor time, in which it is sampled.
func waitUsed(t *testing.T, used time.Duration, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		defer func(until time.Duration) {
			t.Helper()
			waitFor(t, fmt.Sprintf("process %d does not run", pid), func() bool { return processorTime(t, pid) >= until })
		}(processorTime(t, pid) + used)
	}
}

// stopped reports whether a signal has stopped all threads of a process.
func stopped(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if _, rest, _ := strings.Cut(string(text), ") "); err == nil && !strings.HasPrefix(rest, "T") {
			return false
		}
	}
	return len(files) > 0
}

// childrenOf returns the IDs of the processes that a process has started and not waited for yet.
func childrenOf(pid int) (pids []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

// processorTime returns the processor time that the threads of a process have used in its own code.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	return usedBy(t, b)
}

// usedBy returns the processor time in a file /proc/PID/stat.
func usedBy(t *testing.T, stat []byte) time.Duration {
	t.Helper()
	// After the name, in parentheses, are the fields from the third on (proc_pid_stat(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= 14-3 {
		t.Fatalf("not a file /proc/PID/stat: %q", stat)
	}
	user, err := strconv.Atoi(fields[14-3])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user) * 10 * time.Millisecond
}
