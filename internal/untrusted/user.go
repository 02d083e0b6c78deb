// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build unix

package untrusted

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// User is a user with whose rights OpenAs reads files if this process has root's rights.
type User struct {
	ID, Group uint32
	Groups    []uint32 // supplementary ones
}

// Nobody may read files that everybody may read.
var Nobody = User{ID: 65534, Group: 65534} // /proc/sys/kernel/overflowuid

// OwnerOf returns the owner of a file, or Nobody if info does not contain one.
func OwnerOf(info fs.FileInfo) User {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return User{ID: st.Uid, Group: st.Gid}
	}
	return Nobody
}

// IsOwn reports whether a file belongs to this process's user.
func IsOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// OpenBelow opens a file below a directory that the user named. If this process has root's
// rights, links cannot lead out of the directory. The path of the directory may contain a
// link of procfs, such as /proc/PID/root.
func OpenBelow(directory, name string) (*os.File, error) {
	return openBelow(privileged(), directory, name)
}

func openBelow(privileged bool, directory, name string) (*os.File, error) {
	if privileged {
		return Open(directory, name)
	}
	f, err := Open("", directory+"/"+strings.TrimLeft(name, "/"))
	if err != nil {
		if below, failed := Open(directory, name); failed == nil {
			return below, nil
		}
	}
	return f, err
}

// A permissionError is the error for a file that a User may not read.
type permissionError struct {
	error
	why string
}

func (e *permissionError) Error() string { return e.error.Error() + ": " + e.why }
func (e *permissionError) Unwrap() error { return e.error }

// denied adds the reason to an error that wraps fs.ErrPermission.
func denied(err error, why string) error {
	if errors.Is(err, fs.ErrPermission) {
		return &permissionError{err, why}
	}
	return err
}
