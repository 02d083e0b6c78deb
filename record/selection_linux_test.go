// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
)

// A tracepoint has a sample for each time that it is reached.
func TestTracepoint(t *testing.T) {
	const script = `"$0"; "$0"; exec "$0"`
	rec, err := record.Run(context.Background(), record.Options{
		Command: exec.Command("/bin/sh", "-c", script, testprogram.RequireTool(t, "true")), Event: "sched:sched_process_exec",
	})
	if errors.Is(err, record.ErrRefused) || errors.Is(err, record.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if rec.Samples != 3 || len(rec.Events) != 1 || rec.Events[0].Name != "sched:sched_process_exec" {
		t.Errorf("%d samples of %+v, expected 3 of one event", rec.Samples, rec.Events)
	}
	for i := range rec.Stacks {
		if process := rec.Threads[rec.Stacks[i].Thread].Process; process != "true" {
			t.Errorf("a sample is of the process %s, expected true", process)
		}
	}
}

// controlGroup makes a control group for a test, and returns its directory.
func controlGroup(t *testing.T) string {
	t.Helper()
	parent := ""
	own, _ := os.ReadFile("/proc/self/cgroup")
	if strings.Contains(string(own), ":perf_event:") { // version 1 has the controller
		parent = t.TempDir()
		if err := unix.Mount("none", parent, "cgroup", 0, "perf_event"); err != nil {
			t.Skipf("skipped: no control groups: %v", err)
		}
		t.Cleanup(func() { unix.Unmount(parent, unix.MNT_DETACH) })
	}
	mounts, _ := os.ReadFile("/proc/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); parent == "" && len(f) > 2 && f[2] == "cgroup2" {
			parent = f[1]
		}
	}
	if parent == "" {
		t.Skip("skipped: no control groups")
	}
	dir := filepath.Join(parent, fmt.Sprint("clew-test-", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("skipped: no control groups: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); os.Remove(dir) != nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // its processes end
		}
	})
	return dir
}

// The processes of a control group are recorded: those that are in it already, those that come later, and no
// others.
func TestCgroup(t *testing.T) {
	dir := controlGroup(t)
	path := build(t)
	inside, later, outside := testprogram.Start(t, path, "1", "0"), testprogram.Start(t, path, "1", "0"), testprogram.Start(t, path, "1", "0")
	move := func(p *testprogram.Process) {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), fmt.Append(nil, p.PID), 0); err != nil {
			t.Fatal(err)
		}
	}
	move(inside)
	ctx, options := until(t, 100, inside.PID, later.PID)
	moved := false
	rec, err := record.Run(ctx, record.Options{Cgroup: dir, Frequency: 499, Recording: options, Status: func(record.Status) {
		if !moved {
			moved = true
			move(later)
		}
	}})
	if errors.Is(err, record.ErrRefused) || errors.Is(err, record.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[int32]map[string]int)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		pid := rec.Threads[s.Thread].PID
		if samples[pid] == nil {
			samples[pid] = make(map[string]int)
		}
		for _, name := range functions(rec, s) {
			if name == "heavy" || name == "light" {
				samples[pid][name] += int(s.Samples)
			}
		}
	}
	if samples[int32(outside.PID)] != nil || len(samples) != 2 {
		t.Errorf("samples %v, expected some of %d and %d only", samples, inside.PID, later.PID)
	}
	checkShares(t, samples[int32(inside.PID)])
}

// Without the right to sample all processes, the refusal of a control group names the policy.
func TestRefusedCgroup(t *testing.T) {
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if strings.HasPrefix(string(level), "0") || strings.HasPrefix(string(level), "-") {
		t.Skip("skipped: everybody may sample all processes")
	}
	dir := controlGroup(t)
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and so do its capabilities
		var none [2]unix.CapUserData
		err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		if err == nil {
			_, err = record.Run(context.Background(), record.Options{Cgroup: dir})
		}
		result <- err
	}()
	err := <-result
	if errors.Is(err, record.ErrUnsupported) {
		t.Skipf("skipped: %v", err)
	}
	const want = "samples of all processes, or of a control group, need CAP_PERFMON, or the sysctl kernel.perf_event_paranoid at 0 or below"
	if !errors.Is(err, record.ErrRefused) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}
