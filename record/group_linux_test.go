// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The path of a control group in /proc/PID/cgroup leads to the directory with its processes.
func TestGroupDirectory(t *testing.T) {
	if dir := groupDirectory("/nonexistent"); dir != "/nonexistent" {
		t.Errorf("found %s", dir)
	}
	own, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(own)) {
		path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found {
			continue
		}
		dir := groupDirectory(path)
		var system unix.Statfs_t
		if err := unix.Statfs(dir, &system); err != nil || system.Type != unix.CGROUP2_SUPER_MAGIC {
			t.Skipf("skipped: no control groups of version 2 at /sys/fs/cgroup")
		}
		pids, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil || !slices.Contains(strings.Fields(string(pids)), strconv.Itoa(os.Getpid())) {
			t.Errorf("%s: %v, without this process", dir, err)
		}
		if again := groupDirectory(dir); again != dir {
			t.Errorf("%s becomes %s", dir, again)
		}
	}
}
