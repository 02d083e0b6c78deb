// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// noFollow has symbolic links refused.
const noFollow = unix.O_NOFOLLOW

// mapMarker maps the first page of a dump. perf record notes executable
// mappings, and perf inject takes those of files that are called jit-PID.dump
// for jitdumps.
func mapMarker(f *os.File) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
}

func unmapMarker(marker []byte) error { return unix.Munmap(marker) }

// monotonic returns CLOCK_MONOTONIC in nanoseconds, which is perf's clock with -k mono.
func monotonic() (uint64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, fmt.Errorf("CLOCK_MONOTONIC: %w", err)
	}
	return uint64(t.Nano()), nil
}

// processStart returns when this process began.
func processStart() (time.Time, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return time.Time{}, err
	}
	// The name, in parentheses, may hold anything. starttime is the 22nd field,
	// in hundredths of a second since the system began (proc(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return time.Time{}, fmt.Errorf("/proc/self/stat: %d fields behind the name, expected 20", len(fields))
	}
	ticks, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("/proc/self/stat: %w", err)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return time.Time{}, fmt.Errorf("CLOCK_BOOTTIME: %w", err)
	}
	return time.Now().Add(time.Duration(ticks*1e7 - now.Nano())), nil
}
