// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// status has the fields of /proc/PID/status that the package uses (proc_pid_status(5)).
type status struct {
	Name      string
	State     byte // R, S, D, T, t, Z, X, …
	TGID      int
	PID       int
	TracerPID int
	UID       [4]uint32 // real, effective, saved, file system
	Kernel    bool      // a thread of the kernel
	Permitted uint64    // capabilities, as a bit set
	Effective uint64
	Pending   uint64 // signals sent to the process, bit n-1 for signal n
	Ignored   uint64
	Caught    uint64
	Blocked   uint64
}

// hasBit reports whether signal or capability number bit is in set.
func hasBit(set uint64, bit int) bool { return bit >= 0 && bit < 64 && set>>bit&1 != 0 }

// hasDefaultAction reports whether a signal is neither caught nor ignored.
func (s *status) hasDefaultAction(n syscall.Signal) bool {
	return !hasBit(s.Caught|s.Ignored, int(n)-1)
}

// readStatus reads the status of a process or of a thread.
func readStatus(tid int) (*status, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return nil, err
	}
	s := parseStatus(data)
	// Linux has Kthread from 6.8 on. Before that, only kernel threads and zombies lack an
	// address space.
	if !bytes.Contains(data, []byte("\nKthread:")) && s.State != 'Z' && s.State != 'X' {
		s.Kernel = !bytes.Contains(data, []byte("\nVmSize:"))
	}
	return s, nil
}

func parseStatus(data []byte) *status {
	s := new(status)
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Name":
			s.Name = value
		case "State":
			if value != "" {
				s.State = value[0]
			}
		case "Tgid":
			s.TGID, _ = strconv.Atoi(value)
		case "Pid":
			s.PID, _ = strconv.Atoi(value)
		case "TracerPid":
			s.TracerPID, _ = strconv.Atoi(value)
		case "Uid":
			for i, f := range strings.Fields(value) {
				if i < len(s.UID) {
					v, _ := strconv.ParseUint(f, 10, 32)
					s.UID[i] = uint32(v)
				}
			}
		case "Kthread":
			s.Kernel = value == "1"
		case "CapPrm":
			s.Permitted = parseSet(value)
		case "CapEff":
			s.Effective = parseSet(value)
		case "ShdPnd":
			s.Pending = parseSet(value)
		case "SigIgn":
			s.Ignored = parseSet(value)
		case "SigCgt":
			s.Caught = parseSet(value)
		case "SigBlk":
			s.Blocked = parseSet(value)
		}
	}
	return s
}

func parseSet(value string) uint64 {
	v, _ := strconv.ParseUint(value, 16, 64)
	return v
}

// readLine reads a one-line file of /proc, without its newline and cut at 1024
// bytes. It returns "" for an error. It is called for every thread, and os.File
// would need twice as many system calls.
func readLine(name string) string { return readLineAt(unix.AT_FDCWD, name) }

// readLineAt is readLine for a file below an open directory.
func readLineAt(directory int, name string) string {
	fd, err := retry(func() (int, error) { return unix.Openat(directory, name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var line [1024]byte
	n, err := retry(func() (int, error) { return unix.Read(fd, line[:]) })
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(line[:n]), "\n")
}

// retry repeats a system call that a signal interrupts.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

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
