// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"os"
	"slices"

	"github.com/clewdev/clew/internal/untrusted"
)

// OpenSource opens a source file that the debugging information of the file names, by its
// absolute path. Where this process is root, only what the owner of the file may read is
// opened, and the owners of the other files that the debugging information was read from:
// each of them could name any file. Root's rights count only where all are root's. Of a file that is named by way of a process's root
// directory (/proc/PID/root) the source is looked for below that.
func (f *File) OpenSource(path string) (*os.File, error) {
	root, _ := splitRoot(f.name)
	var opened *os.File
	for i, owner := range f.debugOwners() {
		next, err := untrusted.OpenAs(owner, root, path)
		if i > 0 {
			opened.Close()
		}
		if err != nil {
			return nil, err
		}
		opened = next
	}
	return opened, nil
}

// debugOwners returns the owners of the files that the debugging information was read from,
// without root where there are others: at least one.
func (f *File) debugOwners() []untrusted.User {
	owners := f.appendOwners(nil)
	if others := slices.DeleteFunc(slices.Clone(owners), func(u untrusted.User) bool { return u.ID == 0 }); len(others) > 0 {
		owners = others
	}
	if len(owners) > maxOwners {
		return []untrusted.User{untrusted.Nobody}
	}
	return owners
}

// maxOwners bounds how often a source file is opened.
const maxOwners = 8

func (f *File) appendOwners(owners []untrusted.User) []untrusted.User {
	owner := untrusted.Nobody
	if f.info != nil {
		owner = untrusted.OwnerOf(f.info)
	}
	if !slices.ContainsFunc(owners, func(u untrusted.User) bool { return u.ID == owner.ID }) {
		owners = append(owners, owner)
	}
	if d := f.debug.Load(); d != nil {
		owners = d.appendOwners(owners)
	}
	f.partsMu.Lock()
	defer f.partsMu.Unlock()
	for _, p := range f.parts {
		if p.file != nil {
			owners = p.file.appendOwners(owners)
		}
	}
	return owners
}
