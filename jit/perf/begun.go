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

// begun are the jitdumps that this program has begun and whose files still exist. It
// does not survive execve(2). The files themselves do not say which program of the
// process has begun them.
var begun struct {
	mu    sync.Mutex
	dumps []*begunDump
}

type begunDump struct {
	path   string
	info   fs.FileInfo // of the file when it was begun, or was closed
	closed bool
}

// createOwn creates a file with this process's ID in its name. It replaces a file
// without a writer, which is from an earlier process with the same ID, or from the
// program before execve(2). The caller holds begun's lock.
func createOwn(path string) (*os.File, error) {
	// Never through a symbolic link: the folder may be everybody's.
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
	for _, b := range begun.dumps {
		switch {
		case b.closed && same(b.info, info): // the inode number of a removed file was reused
			return fmt.Errorf("%s: this program has closed it; a closed jitdump cannot be reopened: %w", path, fs.ErrExist)
		case !b.closed && os.SameFile(b.info, info):
			return fmt.Errorf("%s: this program is writing it; a folder can have only one Dump: %w", path, fs.ErrExist)
		}
	}
	if locked(path) || mappedHere(path, info) {
		return fmt.Errorf("%s: another publisher is writing it: %w", path, fs.ErrExist)
	}
	return nil
}

// addBegun adds a dump, and removes those whose files are gone. The caller holds
// begun's lock.
func addBegun(path string, f *os.File) (*begunDump, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	begun.dumps = slices.DeleteFunc(begun.dumps, func(b *begunDump) bool {
		now, err := os.Lstat(b.path)
		return err != nil || !os.SameFile(now, b.info)
	})
	b := &begunDump{path: path, info: info}
	begun.dumps = append(begun.dumps, b)
	return b, nil
}

// close records that a dump is complete; f is still open.
func (b *begunDump) close(f *os.File) {
	begun.mu.Lock()
	defer begun.mu.Unlock()
	if info, err := f.Stat(); err == nil {
		b.info = info
	}
	b.closed = true
}
