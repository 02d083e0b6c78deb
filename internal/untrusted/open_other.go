// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package untrusted

import (
	"io/fs"
	"os"
	"strings"
)

// Open opens a regular file for reading by its absolute path in the root directory root, as
// a process with that root directory would. A symbolic link that leads out of root is an
// error here. If root is "" the path is this process's, and may be relative. The error is
// an [*fs.PathError].
func Open(root, name string) (*os.File, error) {
	// The check comes first: opening a FIFO would wait for its writer.
	info, err := Stat(root, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: join(root, name), Err: ErrNotRegular}
	}
	if root == "" {
		return os.Open(name)
	}
	return os.OpenInRoot(root, strings.TrimLeft(name, "/"))
}

// OpenPlanted is like [Open], for a file in a directory like /tmp, where other users can
// create links. If this process has root's rights, the last component of the name must not
// be a link.
func OpenPlanted(root, name string) (*os.File, error) {
	if info, err := os.Lstat(join(root, name)); err == nil && info.Mode()&fs.ModeSymlink != 0 && os.Geteuid() == 0 {
		return nil, &fs.PathError{Op: "open", Path: join(root, name), Err: ErrNotRegular}
	}
	return Open(root, name)
}

// OpenNamed opens a regular file for reading by a trusted name that the user typed. The
// error is an [*fs.PathError].
func OpenNamed(name string) (*os.File, error) { return Open("", name) }

// OpenInput is like [OpenNamed], but also opens FIFOs and character devices, such as
// /dev/stdin. Opening a FIFO waits for a writer.
func OpenInput(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		return os.Open(name)
	}
	return OpenNamed(name)
}

// Stat returns the result of stat(2) for a file of any kind, without opening it.
func Stat(root, name string) (fs.FileInfo, error) { return os.Stat(join(root, name)) }
