// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

// owner describes a process as the writer of files. It returns nil if the process has ended.
func owner(pid int) *snapshot.Process {
	p, err := snapshot.RunningProcess(pid)
	if err != nil {
		return nil
	}
	p.Root, p.Began = "/proc/"+strconv.Itoa(addressSpace(pid))+"/root", began(pid)
	p.SourceRoot = root(addressSpace(pid))
	return p
}

// userHZ is the unit of times in /proc/PID/stat, for all configurations of the kernel.
const userHZ = 100

// began returns the start time of a process with a precision of 10 ms, zero if unknown.
func began(pid int) time.Time {
	line := readLine("/proc/" + strconv.Itoa(pid) + "/stat")
	// The name, in parentheses, can contain anything. The field after it is field 3, the state;
	// starttime is field 22 (proc_pid_stat(5)).
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return time.Time{}
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	var now unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(ticks)*(time.Second/userHZ) - time.Duration(now.Nano()))
}
