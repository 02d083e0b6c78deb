// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build unix && !linux

package untrusted

import (
	"fmt"
	"io/fs"
	"os"
)

// OpenAs is like [Open]. If this process is root, it opens only files that a user owns or
// everybody may read.
func OpenAs(user User, root, name string) (*os.File, error) {
	f, err := Open(root, name)
	if err != nil || user.ID == 0 || !privileged() {
		return f, err
	}
	info, err := f.Stat()
	if err == nil && OwnerOf(info).ID != user.ID && info.Mode().Perm()&0o004 == 0 {
		err = denied(&fs.PathError{Op: "open", Path: join(root, name), Err: fs.ErrPermission}, fmt.Sprintf("neither user %d owns it nor everybody may read it", user.ID))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// privileged reports whether this process can read files against their modes.
func privileged() bool { return os.Geteuid() == 0 }
