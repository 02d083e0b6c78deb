// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// taskDirectory lists the threads of a process. It stays open, so that a listing costs only
// two system calls while the threads stand still.
type taskDirectory struct {
	fd     int
	buffer []byte
}

func openTasks(pid int) (*taskDirectory, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open task directory", err)
	}
	// The buffer is for 1000 threads in one piece. Between two pieces the kernel finds its
	// position by counting, and misses one thread for each that ended.
	return &taskDirectory{fd: fd, buffer: make([]byte, 32<<10)}, nil
}

func (d *taskDirectory) close() { unix.Close(d.fd) }

// name returns the name of a thread, "" if it has ended.
func (d *taskDirectory) name(tid int) string { return readLineAt(d.fd, strconv.Itoa(tid)+"/comm") }

// list appends the IDs of the threads.
func (d *taskDirectory) list(tids []int) ([]int, error) {
	if _, err := unix.Seek(d.fd, 0, 0); err != nil {
		return tids, err
	}
	for {
		n, err := unix.Getdents(d.fd, d.buffer)
		if err != nil {
			return tids, err
		}
		if n <= 0 {
			return tids, nil
		}
		// struct linux_dirent64: u64 inode, s64 offset, u16 length, u8 type,
		// name ended by a zero.
		for b := d.buffer[:n]; len(b) > 19; {
			length := int(binary.NativeEndian.Uint16(b[16:]))
			if length < 19 || length > len(b) {
				break
			}
			if tid := decimal(b[19:length]); tid > 0 {
				tids = append(tids, tid)
			}
			b = b[length:]
		}
	}
}

// decimal reads a number before a zero byte. It returns 0 if there is none.
func decimal(b []byte) int {
	v := 0
	for _, c := range b {
		if c == 0 {
			return v
		}
		if c < '0' || c > '9' || v > 1<<30 {
			return 0
		}
		v = v*10 + int(c-'0')
	}
	return v
}

// listThreads appends the IDs of a process's threads.
func listThreads(pid int, tids []int) ([]int, error) {
	d, err := openTasks(pid)
	if err != nil {
		return tids, err
	}
	defer d.close()
	return d.list(tids)
}

func taskFile(pid, tid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/" + name
}

// threadState returns the state letter of a thread, 0 if it does not exist.
func threadState(pid, tid int) byte {
	// "TID (name) S …": the name can contain anything.
	s := readLine(taskFile(pid, tid, "stat"))
	if i := strings.LastIndexByte(s, ')'); i >= 0 && i+2 < len(s) {
		return s[i+2]
	}
	return 0
}
