// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package rootfs

import (
	"os"
	"strings"
)

// Open opens an absolute path for reading as a process whose root directory is
// root would, but for paths with symbolic links that lead out of it, which are
// an error here. The error is an *fs.PathError.
func Open(root, name string) (*os.File, error) {
	return os.OpenInRoot(root, strings.TrimLeft(name, "/"))
}
