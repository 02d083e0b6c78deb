// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// ownDumps are the existing jitdumps of this program. execve(2) clears the list. The files
// do not identify the program of the process that made them.
var ownDumps struct {
	mu    sync.Mutex
	dumps []*ownDump
}

type ownDump struct {
	path   string
	info   fs.FileInfo // of the file when it was begun, or was closed
	closed bool
}

// createOwn creates a file with this process's ID in its name. It replaces a file
// without a writer, which is from an earlier process with the same ID, or from the
// program before execve(2). The caller holds the lock of ownDumps.
func createOwn(path string) (*os.File, error) {
	// Never through a symbolic link: all users may be able to write to the directory.
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(path, flags, 0o600)
	if os.IsExist(err) {
		if err := leftOver(path); err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	if err == nil {
		lock(f)
	}
	return f, err
}

// leftOver returns an error if the file at a path must not be replaced.
func leftOver(path string) error {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() == fs.ModeSymlink:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a file: %w", path, fs.ErrExist)
	}
	for _, b := range ownDumps.dumps {
		switch {
		case b.closed && same(b.info, info): // the inode number of a removed file was reused
			return fmt.Errorf("%s: this program has closed it; a closed jitdump cannot be reopened: %w", path, fs.ErrExist)
		case !b.closed && os.SameFile(b.info, info):
			return fmt.Errorf("%s: this program is writing it; a directory can have only one Dump: %w", path, fs.ErrExist)
		}
	}
	if locked(path) || mappedHere(path, info) {
		return fmt.Errorf("%s: another publisher is writing it: %w", path, fs.ErrExist)
	}
	return nil
}

// addOwn adds a dump, and removes dumps without a file. The caller holds the lock of ownDumps.
func addOwn(path string, f *os.File) (*ownDump, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	ownDumps.dumps = slices.DeleteFunc(ownDumps.dumps, func(b *ownDump) bool {
		now, err := os.Lstat(b.path)
		return err != nil || !os.SameFile(now, b.info)
	})
	b := &ownDump{path: path, info: info}
	ownDumps.dumps = append(ownDumps.dumps, b)
	return b, nil
}

// close records that a dump is complete; f is still open.
func (b *ownDump) close(f *os.File) {
	ownDumps.mu.Lock()
	defer ownDumps.mu.Unlock()
	if info, err := f.Stat(); err == nil {
		b.info = info
	}
	b.closed = true
}
