// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
)

// ErrNoFile is wrapped by OpenMapping's error for a mapping without a file.
var ErrNoFile = errors.New("no file is mapped")

// OpenMapping opens a mapped file of process pid for reading. The file may be in another mount
// namespace, may have been replaced, or may have lost its name. The caller closes it. The error
// wraps a *debugfile.NotFoundError, which lists each attempt and why it failed. The image can then
// still be read from the process's memory.
//
// The attempts, in order: the path under the process's root directory; the process's program,
// /proc/PID/exe; /proc/PID/map_files, which needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN;
// last, if the mapping starts with an ELF header, a copy with its build ID. The first two must
// have the mapped inode. The device numbers of the inode and of the mapping can differ on
// btrfs, where each subvolume has its own, and on overlayfs, which shows a layer's or its own.
// In that case the inode number must be equal, and so must the bytes of a mapped page that is
// not writable.
func OpenMapping(pid int, m *snapshot.Mapping) (*os.File, error) {
	return openMapping(pid, m, &debugfile.Search{Root: root(pid)})
}

func openMapping(pid int, m *snapshot.Mapping, search *debugfile.Search) (*os.File, error) {
	if m.Inode == 0 || m.Path == "" {
		return nil, fmt.Errorf("mapping %#x-%#x %s: %w", m.Start, m.End, m.Path, ErrNoFile)
	}
	proc := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Lstat(proc + "/exe"); err != nil {
		proc = "/proc/" + strconv.Itoa(addressSpace(pid))
	}
	wanted := debugfile.Module{Path: m.Path, Stale: m.Deleted,
		Same: func(f *os.File, _ *object.File) (bool, error) { return true, sameFile(pid, m, f) }}
	if strings.HasPrefix(m.Path, "/") {
		name := m.Path
		if m.Deleted {
			name += deletedSuffix // which can be the end of the name itself
		}
		wanted.Places = append(wanted.Places, debugfile.Place{Root: proc + "/root", Path: name})
	}
	if link, err := os.Readlink(proc + "/exe"); err == nil && strings.TrimSuffix(link, deletedSuffix) == m.Path {
		wanted.Places = append(wanted.Places, debugfile.Place{Path: proc + "/exe", Named: true})
	}
	wanted.Places = append(wanted.Places, debugfile.Place{Path: fmt.Sprintf("%s/map_files/%x-%x", proc, m.Start, m.End), Trust: debugfile.Certain, Named: true})
	f, _, err := search.Open(&wanted)
	if err != nil {
		if wanted.BuildID = mappedID(pid, m); wanted.BuildID != nil {
			f, _, err = search.Open(&wanted)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: file of mapping %#x-%#x %w", pid, m.Start, m.End, err)
	}
	return f, nil
}

const deletedSuffix = " (deleted)"

// mappedID returns the build ID of an object file that is mapped from its start, read from the
// process's memory. It is nil if there is none.
func mappedID(pid int, m *snapshot.Mapping) []byte {
	if m.Offset != 0 {
		return nil
	}
	memory, err := OpenMemory(pid)
	if err != nil {
		return nil
	}
	defer memory.Close()
	image, err := object.FromMemory(memory, m.Start, m.Path)
	if err != nil {
		return nil
	}
	defer image.Close()
	return image.BuildID()
}

// sameFile returns an error unless f is the file that m maps.
func sameFile(pid int, m *snapshot.Mapping, f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	switch {
	case st.Ino != m.Inode:
		return fmt.Errorf("inode %d, but inode %d is mapped: the file was replaced", st.Ino, m.Inode)
	case uint64(st.Dev) == m.Device:
		return nil
	}
	if err := samePage(pid, m, f); err != nil {
		return fmt.Errorf("device %d:%d, but %d:%d is mapped, and %w",
			unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), unix.Major(m.Device), unix.Minor(m.Device), err)
	}
	return nil
}

var (
	errWritable   = errors.New("the mapping is writable, so its bytes prove nothing")
	errUnreadable = errors.New("the mapping cannot be read")
)

// samePage compares the first page of a mapping with the file's.
func samePage(pid int, m *snapshot.Mapping, f *os.File) error {
	if m.Writable {
		return errWritable
	}
	memory, err := OpenMemory(pid)
	if err != nil {
		return err
	}
	defer memory.Close()
	same, err := debugfile.SamePage(memory, m.Start, f, int64(m.Offset), int(min(m.End-m.Start, 4096)))
	if err == nil && !same {
		err = errUnreadable
	}
	return err
}

// root returns a path to the root directory of process pid, "" if it is that of this process.
func root(pid int) string {
	path := fmt.Sprintf("/proc/%d/root", pid)
	own, err := os.Stat("/")
	if err != nil {
		return path
	}
	other, err := os.Stat(path + "/")
	if err == nil && os.SameFile(own, other) && sameMountNamespace(pid) {
		return ""
	}
	return path
}

func sameMountNamespace(pid int) bool {
	own, err1 := os.Readlink("/proc/self/ns/mnt")
	other, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	return err1 == nil && err2 == nil && own == other
}

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
