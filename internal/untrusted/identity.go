// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build unix

package untrusted

import (
	"io/fs"
	"syscall"
)

// Identity identifies a file independently of its name: its device, in the encoding of
// makedev(3), and its inode.
type Identity struct{ Device, Inode uint64 }

// IdentityOf returns the identity of a file, or zero if info does not contain it.
func IdentityOf(info fs.FileInfo) Identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}
	}
	return Identity{uint64(st.Dev), uint64(st.Ino)}
}
