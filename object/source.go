// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"os"

	"github.com/clewdev/clew/internal/untrusted"
)

// OpenSource opens a source file that the debugging information of the file names, by its
// absolute path. Where this process is root, only what the owner of the file may read is
// opened: whoever made the file could name any other. An owner of the separate debug
// file who is not root counts instead. Of a file that is named by way of a process's root
// directory (/proc/PID/root) the source is looked for below that.
func (f *File) OpenSource(path string) (*os.File, error) {
	owner := untrusted.Nobody
	if f.info != nil {
		owner = untrusted.OwnerOf(f.info)
	}
	if d := f.debug.Load(); d != nil && owner.ID == 0 && d.info != nil {
		owner = untrusted.OwnerOf(d.info)
	}
	root, _ := splitRoot(f.name)
	return untrusted.OpenAs(owner, root, path)
}
