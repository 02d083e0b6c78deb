// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/clewdev/clew/target/codefile"
)

// owner returns what is known of the target as the one that wrote files. They are
// those that lie now where it had them, under the sysroot where there is one; info
// is of the core's file. The kernel gives a core to the user that the target ran
// as; the ID in its notes is as the target sees it, in a user namespace another.
func (c *Core) owner(info fs.FileInfo) *codefile.Process {
	p := &codefile.Process{Root: "/", IDs: []int{c.snapshot.PID}}
	if root := c.options.Search.Root; root != "" {
		p.Root = root
		return p
	}
	p.Users = []uint32{c.notes.user, uint32(os.Geteuid())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		p.Users = append(p.Users, st.Uid)
	}
	return p
}
