// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxName is the length at which the kernel cuts a process's name: TASK_COMM_LEN of
// linux/sched.h, less its NUL.
const maxName = 15

// Named returns the IDs of the processes with a name, in ascending order, as 'pgrep -x'
// finds them: the name is that in /proc/PID/comm. The kernel cuts it after 15 bytes, so
// for a longer name the base name of the command's first argument must be equal too. Named
// leaves out the calling process, kernel threads, and processes that have ended.
//
// A process chooses its name, and can end or change it at any time.
func Named(name string) []int {
	var pids []int
	for pid, comm := range All() {
		if comm == name || len(name) > maxName && comm == name[:maxName] && commandOf(pid) == name {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// All yields the IDs and names of the processes with an address space, except the calling
// process.
func All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		entries, _ := os.ReadDir("/proc") // may be incomplete
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			s, err := readStatus(pid)
			if err != nil || s.Kernel || s.State == 'Z' || s.State == 'X' {
				continue
			}
			// The name in status is escaped.
			comm, err := os.ReadFile("/proc/" + e.Name() + "/comm")
			if err == nil && !yield(pid, string(bytes.TrimSuffix(comm, []byte("\n")))) {
				return
			}
		}
	}
}

// commandOf returns the base name of a process's first argument, "" without arguments.
func commandOf(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return ""
	}
	first, _, _ := bytes.Cut(data, []byte{0})
	return filepath.Base(string(first))
}
