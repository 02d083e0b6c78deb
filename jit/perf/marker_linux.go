// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapMarker maps the first page of a dump. perf record records executable mappings, and
// perf inject takes mapped files named jit-PID.dump for jitdumps.
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

// lock locks a file until it is closed, execve(2) included. It has no effect on a file
// system without locks.
func lock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// locked reports whether a file is locked: by another copy of this package in the
// process, or by a process with the same ID in a container that shares the directory.
func locked(path string) bool {
	// Other users can create a link or a FIFO here at any time.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}

// mappedHere reports whether a file is mapped into this process, as writers of jitdumps
// do. execve(2) removes all mappings.
func mappedHere(path string, info fs.FileInfo) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return false
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	inode := ""
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = strconv.FormatUint(stat.Ino, 10)
	}
	// Some file systems report other devices or inodes here than stat does. The path can
	// lead through another mount, but the name stays (proc_pid_maps(5)).
	name := "/" + filepath.Base(path)
	for line := range strings.Lines(string(maps)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasSuffix(line, name) {
			continue
		}
		if fields := strings.Fields(line); len(fields) > 5 && fields[4] == inode || err == nil && strings.HasSuffix(line, " "+resolved) {
			return true
		}
	}
	return false
}
