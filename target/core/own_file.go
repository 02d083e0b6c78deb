// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"cmp"
	"os"

	"github.com/clewdev/clew/internal/rootfs"
)

// openOwn is the snapshot's OpenPath: it opens what lies now where the target had
// a file of its own, under the sysroot where there is one.
func (c *Core) openOwn(path string) (*os.File, error) {
	return rootfs.Open(cmp.Or(c.options.Search.Root, "/"), path)
}
