// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build unix

package untrusted

import (
	"io/fs"
	"syscall"
)

// Identity distinguishes a file from others, whatever its name is: by its device, encoded
// as the system does it (makedev(3)), and its inode there.
type Identity struct{ Device, Inode uint64 }

// IdentityOf returns the identity of a file, zero where info does not contain it.
func IdentityOf(info fs.FileInfo) Identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}
	}
	return Identity{uint64(st.Dev), uint64(st.Ino)}
}
