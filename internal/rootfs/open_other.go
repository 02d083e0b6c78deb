// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package rootfs

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// Open opens a regular file for reading, by its absolute path as a process whose
// root directory is root would, but for paths with symbolic links that lead out of
// it, which are an error here. Where root is "" the path is this process's, and may
// be relative. The error is an *fs.PathError.
func Open(root, name string) (*os.File, error) {
	// The check comes first: opening a FIFO would wait for its writer.
	full := name
	if root != "" {
		full = path.Join(root, name)
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: full, Err: ErrNotRegular}
	}
	if root == "" {
		return os.Open(name)
	}
	return os.OpenInRoot(root, strings.TrimLeft(name, "/"))
}
