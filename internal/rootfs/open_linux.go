// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rootfs

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens a regular file for reading, by its absolute path as a process whose
// root directory is root would: symbolic links, absolute ones too, lead nowhere
// out of it. Where root is "" the path is this process's, and may be relative. The
// error is an *fs.PathError.
func Open(root, name string) (*os.File, error) {
	full := name
	if root != "" {
		full = path.Join(root, name)
	}
	at, err := find(root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err = unix.Fstat(at, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrNotRegular
	}
	fd := -1
	if err == nil {
		// proc_pid_fd(5): this leads to the file itself, whatever its name leads to by now.
		fd, err = unix.Open("/proc/self/fd/"+strconv.Itoa(at), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	return os.NewFile(uintptr(fd), full), nil
}

// find returns a descriptor that stands for a file, and does not open it.
func find(root, name string) (int, error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	if root == "" {
		return unix.Open(name, flags, 0)
	}
	dir, err := unix.Open(root, flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat2(dir, strings.TrimLeft(name, "/"), &unix.OpenHow{
		Flags:   flags,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err == unix.ENOSYS || err == unix.EPERM { // before Linux 5.6, or a seccomp filter
		// A link at the end is then not regular.
		fd, err = unix.Open(path.Join(root, name), flags|unix.O_NOFOLLOW, 0)
	}
	return fd, err
}
