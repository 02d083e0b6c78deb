// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/rootfs"
)

// openOwn opens a file that process pid has written, by the path that it has in
// the process's mount namespace. In a folder that is everybody's, as /tmp is,
// anybody can have made it: as perf does, it is taken only of the process's own
// user and of root.
func openOwn(pid int, path string) (*os.File, error) {
	at := addressSpace(pid)
	f, err := rootfs.Open("/proc/"+strconv.Itoa(at)+"/root", path)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err != nil {
		err = fmt.Errorf("%s: fstat: %w", path, err)
	} else if st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = fmt.Errorf("%s: not a regular file", path)
	} else if status, statusErr := readStatus(at); statusErr != nil {
		err = statusErr
	} else if st.Uid != 0 && st.Uid != status.UID[1] {
		err = fmt.Errorf("%s: it is of user %d, expected %d, as whom process %d runs", path, st.Uid, status.UID[1], pid)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// userHZ is the unit of times in /proc/PID/stat, whatever the kernel's own.
const userHZ = 100

// began returns when a process began, to 10 ms; zero where that is not to be had.
func began(pid int) time.Time {
	line := readLine("/proc/" + strconv.Itoa(pid) + "/stat")
	// The name, in parentheses, may hold anything. proc_pid_stat(5): starttime is
	// field 22, and the state behind the name field 3.
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
