// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// The memory of a recording does not grow with the number of processes. With CLEW_FULL it is compared over
// five minutes.
func TestRecordMemory(t *testing.T) {
	took, first := 3*time.Second, time.Second
	if sample.Full() {
		took, first = 5*time.Minute, time.Minute
	}
	p := testprogram.Start(t, testprogram.Build(t, "starts.c", "-O2"), "100", "0")
	var stdout, stderr bytes.Buffer
	// Each process works for about two milliseconds: its first sample comes after one.
	cmd := clew(t, "record", "--no-lines", "--frequency", "999", "--duration", took.String(), strconv.Itoa(p.PID))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	var early, late, most int64 // kB in the first part, while recording, and with the names
	for began, running := time.Now(), true; running; {
		select {
		case err := <-ended:
			running = false
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
		case <-time.After(100 * time.Millisecond):
			most = max(most, anonymousMemory(cmd.Process.Pid))
			if time.Since(began) < first {
				early = most
			}
			if time.Since(began) < took {
				late = most
			}
		}
	}
	if early == 0 {
		t.Fatal("the memory is unknown")
	}
	m := regexp.MustCompile(`(\d+) samples of (\d+) threads?`).FindSubmatch(stdout.Bytes())
	if m == nil {
		t.Fatalf("no samples:\n%s", &stdout)
	}
	samples, _ := strconv.Atoi(string(m[1]))
	t.Logf("%d samples of %s threads, %d kB of memory at first, %d kB later and %d kB at most", samples, m[2], early, late, most)
	if samples < 20*int(took.Seconds()) {
		t.Errorf("%d samples of 100 processes a second in %v", samples, took)
	}
	if most > 150e3 || sample.Full() && late > early*5/4 {
		t.Errorf("%d kB after %v and %d kB at most, expected a quarter more than %d kB, and 150 MB", late, took, most, early)
	}
}

// anonymousMemory returns how much of a process's memory belongs to no file, in kB.
func anonymousMemory(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	m := regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`).FindSubmatch(b)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return n
}
