// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package outputfile writes files, also as root in directories where other users can
// plant links, FIFOs and files of their own.
//
//   - [Write] and [Create] write a file that the user named, whole or not at all. They
//     keep the mode and owner of a file that they replace.
//   - [Append] opens a file of this user to append to it, and [Read] to read it.
//   - [Directory] opens a directory for files of this user.
//   - [Temporary] makes a file without a name, which is deleted when it is closed.
//
// The kernel refuses some planted files by itself (proc_sys_fs(5), protected_symlinks,
// protected_regular, protected_fifos), but only if it is configured to, and only in sticky
// directories. The package refuses the same files whatever the setting, and refuses links
// in all directories that other users can write to.
//
// On systems other than Linux it checks less. All functions may be called from several
// goroutines.
package outputfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrPlanted is wrapped by the error for a file that another user may have planted.
var ErrPlanted = errors.New("another user may have put it there")

// buffered calls write with a buffer of f.
func buffered(f *os.File, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(f, 1<<16)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// unnamed is Temporary where the file system has no files without a name.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "clew-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // a system that cannot remove an open file removes it some day
	return f, nil
}

// mode returns the mode of new files. Files of root may hold secrets of other users.
func mode() fs.FileMode {
	if os.Geteuid() == 0 {
		return 0o600
	}
	return 0o666 // less the umask
}

// kind returns what a file is, in words.
func kind(m fs.FileMode) string {
	switch m.Type() {
	case 0:
		return "a regular file"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeDir:
		return "a directory"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

func planted(path, format string, args ...any) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrPlanted)}
}
