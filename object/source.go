// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"io/fs"
	"iter"
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
	return f.appendPartOwners(owners)
}

// PartOwners are the users, without root, that own separate debug files and split units.
// Each of them could name any source file.
type PartOwners struct{ users []untrusted.User }

// PartOwnersOf returns the owners of the parts that were read of some files.
func PartOwnersOf(files iter.Seq[*File]) PartOwners {
	var owners []untrusted.User
	for f := range files {
		owners = f.appendPartOwners(owners)
	}
	owners = slices.DeleteFunc(owners, func(u untrusted.User) bool { return u.ID == 0 })
	if len(owners) > maxOwners {
		owners = []untrusted.User{untrusted.Nobody}
	}
	return PartOwners{owners}
}

// Check returns an error where this process is root and one of the owners may not read an
// open source file, by its absolute path below root.
func (o PartOwners) Check(source *os.File, root, path string) error {
	for _, user := range o.users {
		f, err := untrusted.OpenAs(user, root, path)
		if err != nil {
			return err
		}
		have, err := f.Stat()
		want, failed := source.Stat()
		f.Close()
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if !os.SameFile(have, want) {
			return &fs.PathError{Op: "open", Path: path, Err: errors.New("it was replaced while it was opened")}
		}
	}
	return nil
}

func (f *File) appendPartOwners(owners []untrusted.User) []untrusted.User {
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
