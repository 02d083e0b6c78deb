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
// absolute path. The caller closes it. If the name of the file begins with the root
// directory of a process (/proc/PID/root), the source is looked for below that.
//
// As root, OpenSource opens only files that all owners of the files with the debugging
// information may read, since each of them could have named any file.
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

// debugOwners returns the owners of the files that the debugging information was read
// from: without root, unless root is the only one.
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

// maxOwners bounds the owners that are checked for one source file.
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

// PartOwners is the set of owners, without root, of separate debug files and split units.
// Each of them could have named any source file.
type PartOwners struct{ users []untrusted.User }

// PartOwnersOf returns the owners of the separate debug files and split units that the files
// have opened so far.
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

// Check returns an error if this process is root and one of the owners may not read the
// open source file, which has an absolute path below root.
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
