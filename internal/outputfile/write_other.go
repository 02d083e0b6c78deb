// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package outputfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is being written.
type File struct {
	*os.File
	path           string
	old            fs.FileInfo // of the file that it replaces, or nil
	done, detached bool
}

// Create is as on Linux, but does not check directories, and does not keep the owner.
func Create(path string) (*File, error) {
	old, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return nil, err
	case !old.Mode().IsRegular():
		return nil, planted(path, "%s, expected a regular file", kind(old.Mode()))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return nil, err
	}
	return &File{File: f, path: path, old: old}, nil
}

// Write creates a file as Create does, or writes to an existing FIFO or device.
func Write(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := buffered(f.File, write); err != nil {
		return err
	}
	return f.Commit()
}

// Commit gives the file its name. The file stays open.
func (f *File) Commit() error {
	if f.old != nil {
		if err := f.Chmod(f.old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	return nil
}

// Detach returns the file after Commit. It is the caller's, and Close does nothing.
func (f *File) Detach() *os.File {
	f.detached = true
	return f.File
}

// Close closes the file, and removes it unless it was committed.
func (f *File) Close() error {
	if f.detached {
		return nil
	}
	err := f.File.Close()
	if !f.done {
		os.Remove(f.Name())
	}
	return err
}

// Append opens a regular file to append to it.
func Append(path string) (*os.File, error) {
	return openOwn(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
}

// Read opens a regular file for reading.
func Read(path string) (*os.File, error) { return openOwn(path, os.O_RDONLY) }

func openOwn(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, planted(path, "%s, expected a regular file; remove it", kind(info.Mode()))
	}
	return os.OpenFile(path, flags, 0o600)
}

// Directory opens a directory, and makes it if it does not exist.
func Directory(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// Temporary creates a file and removes its name at once.
func Temporary(dir string) (*os.File, error) { return unnamed(dir) }
