// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
)

// process returns the target as the writer of files. The files are those now at the
// target's paths, below the sysroot if there is one. The kernel gives a core to the user
// of the target; the user ID in its notes is that in the target's user namespace.
func (d *Dump) process() *snapshot.Process {
	p := &snapshot.Process{Root: "/", IDs: []int{d.Snapshot.PID}}
	user := d.user()
	p.ReadAs = &user
	if root := d.Options.Search.Root; root != "" {
		p.Root = root
		return p
	}
	p.Users = []uint32{d.User, uint32(os.Geteuid())}
	if st, ok := d.info.Sys().(*syscall.Stat_t); ok {
		p.Users = append(p.Users, st.Uid)
	}
	return p
}

// user returns the user that the target ran as, as far as the core's file proves it. The
// kernel gives the file to that user; systemd-coredump(8) keeps it for root, and notes the
// user in attributes of the file. The notes in the core prove nothing: anybody can write a
// core, and the kernel notes the user ID that the target has in its own user namespace,
// where anybody can be root.
func (d *Dump) user() debugfile.User {
	owner := untrusted.OwnerOf(d.info)
	switch {
	case owner.ID != 0:
		return debugfile.User(owner)
	case d.owner != nil:
		return *d.owner
	}
	return debugfile.User(untrusted.Nobody)
}

// storedUser returns the user that systemd-coredump stores for a core's file, or nil if
// it did not store the file.
func storedUser(f *os.File) *debugfile.User {
	id, ok := attribute(f, "user.coredump.uid")
	if !ok {
		return nil
	}
	user := debugfile.User{ID: id, Group: untrusted.Nobody.Group}
	if group, ok := attribute(f, "user.coredump.gid"); ok {
		user.Group = group
	}
	return &user
}

// attribute returns the number in an extended attribute of a file.
func attribute(f *os.File, name string) (uint32, bool) {
	text := make([]byte, 16)
	n, err := unix.Fgetxattr(int(f.Fd()), name, text)
	if err != nil || n > len(text) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[:n]), 10, 32)
	return uint32(v), err == nil
}
