// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"io/fs"
	"os"

	"github.com/clewdev/clew/internal/rootfs"
)

// openOwn is the snapshot's OpenPath: it opens what lies now where the target had
// a file of its own, under the sysroot where there is one.
func (c *Core) openOwn(path string) (*os.File, error) {
	root := c.options.Sysroot
	if root == "" {
		root = "/"
	}
	f, err := rootfs.Open(root, path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	return f, nil
}
