// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/rootfs"
	"github.com/clewdev/clew/target"
)

// ErrNoFile is wrapped by OpenMapping's error for a mapping of no file.
var ErrNoFile = errors.New("no file is mapped")

// OpenMapping opens for reading the very file that process pid has mapped,
// also when it is in another mount namespace, was replaced, or has no name any
// more. The caller closes it. The error says each way that was tried and why
// it failed; the image can then still be read from the process's memory.
//
// The ways, in order: the path under the process's root directory; the
// process's program, /proc/PID/exe; /proc/PID/map_files, which needs
// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. What the first two open is taken
// only if it is the mapped inode. The device numbers of the inode and of the
// mapping differ on btrfs, where each subvolume has its own, and on overlayfs,
// which shows one layer's or its own: there the inode number and the bytes of
// a mapped page that cannot be written decide.
func OpenMapping(pid int, m *target.Mapping) (*os.File, error) {
	if m.Inode == 0 || m.Path == "" {
		return nil, fmt.Errorf("mapping %#x-%#x %s: %w", m.Start, m.End, m.Path, ErrNoFile)
	}
	proc := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Lstat(proc + "/exe"); err != nil {
		proc = "/proc/" + strconv.Itoa(addressSpace(pid))
	}
	var failures []error
	try := func(f *os.File, err error) *os.File {
		if err == nil {
			err = sameFile(pid, m, f)
		}
		if err == nil {
			return f
		}
		if f != nil {
			f.Close()
		}
		failures = append(failures, err)
		return nil
	}
	if strings.HasPrefix(m.Path, "/") {
		name := m.Path
		if m.Deleted {
			// Or the name itself ends so.
			name += " (deleted)"
		}
		if f := try(rootfs.Open(proc+"/root", name)); f != nil {
			return f, nil
		}
		if m.Deleted {
			failures = []error{errDeleted}
		}
	}
	if link, err := os.Readlink(proc + "/exe"); err == nil && strings.TrimSuffix(link, " (deleted)") == m.Path {
		if f := try(os.Open(proc + "/exe")); f != nil {
			return f, nil
		}
	}
	// The kernel itself says that this is the file; no further check.
	f, err := os.Open(fmt.Sprintf("%s/map_files/%x-%x", proc, m.Start, m.End))
	if err == nil {
		var st unix.Stat_t
		if err = unix.Fstat(int(f.Fd()), &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return f, nil
		}
		f.Close()
		err = fmt.Errorf("%s: not a regular file", f.Name())
	}
	failures = append(failures, err)
	return nil, fmt.Errorf("process %d: file of mapping %#x-%#x %s: %w", pid, m.Start, m.End, m.Path, errors.Join(failures...))
}

var errDeleted = errors.New("the file was deleted or replaced")

// sameFile returns an error unless f is the file that m maps.
func sameFile(pid int, m *target.Mapping, f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("%s: fstat: %w", f.Name(), err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%s: not a regular file", f.Name())
	case st.Ino != m.Inode:
		return fmt.Errorf("%s: inode %d, but inode %d is mapped: the file was replaced", f.Name(), st.Ino, m.Inode)
	case uint64(st.Dev) == m.Device:
		return nil
	}
	if err := samePage(pid, m, f); err != nil {
		return fmt.Errorf("%s: device %d:%d, but %d:%d is mapped, and %w", f.Name(),
			unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), unix.Major(m.Device), unix.Minor(m.Device), err)
	}
	return nil
}

var (
	errWritable = errors.New("the mapping may have been written to, so its bytes tell nothing")
	errContents = errors.New("the contents differ")
)

// samePage compares the first page of a mapping with the file's.
func samePage(pid int, m *target.Mapping, f *os.File) error {
	if m.Writable {
		return errWritable
	}
	n := min(m.End-m.Start, 4096)
	mapped, stored := make([]byte, n), make([]byte, n)
	memory, err := OpenMemory(pid)
	if err != nil {
		return err
	}
	defer memory.Close()
	if err := memory.ReadMemory(mapped, m.Start); err != nil {
		return err
	}
	// The last page of a mapping is filled up with zeros.
	if k, err := f.ReadAt(stored, int64(m.Offset)); k == 0 {
		return err
	}
	if !bytes.Equal(mapped, stored) {
		return errContents
	}
	return nil
}

// root returns how this process reaches the root directory of process pid: ""
// where both have the same one.
func root(pid int) string {
	path := fmt.Sprintf("/proc/%d/root", pid)
	own, err := os.Stat("/")
	if err != nil {
		return path
	}
	theirs, err := os.Stat(path + "/")
	if err == nil && os.SameFile(own, theirs) && sameMountNamespace(pid) {
		return ""
	}
	return path
}

func sameMountNamespace(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/mnt")
	theirs, theirErr := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	return err == nil && theirErr == nil && own == theirs
}
