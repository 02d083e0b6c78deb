// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// AwaitWork waits until the children of a process have used two more ticks of processor time
// by /proc/PID/stat. A session's worker is a child, and uses none while it is stopped.
func AwaitWork(t testing.TB, parent int) {
	t.Helper()
	begin := childrenTicks(parent)
	for end := time.Now().Add(time.Minute); childrenTicks(parent) < begin+2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no child of process %d runs", parent)
		}
	}
}

// childrenTicks returns the user time of the children of a process, in clock ticks.
func childrenTicks(parent int) (ticks int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		// After the name, in parentheses, are the fields from the third on: the state, the
		// parent, and utime as the 14th (proc_pid_stat(5)).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 12 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		n, _ := strconv.Atoi(fields[11])
		ticks += n
	}
	return ticks
}
