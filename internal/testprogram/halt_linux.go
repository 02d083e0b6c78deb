// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Halt stops a process by SIGSTOP, so that every look at it finds the same state, and waits until
// all threads stand still. It continues at the end of the test, or when the result is called.
func Halt(t testing.TB, pid int) (proceed func()) {
	t.Helper()
	proceed = func() { syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(proceed)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		running := 0
		for _, task := range tasks {
			if text, err := os.ReadFile(task); err == nil && !strings.Contains(string(text), "\nState:\tT") {
				running++
			}
		}
		if len(tasks) > 0 && running == 0 {
			return proceed
		}
		if time.Now().After(end) {
			t.Fatalf("process %d does not stop: %d of %d threads run", pid, running, len(tasks))
		}
	}
}
