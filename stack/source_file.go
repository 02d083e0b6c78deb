// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"os"

	"github.com/clewdev/clew/object"
)

// OpenSource opens a source file that the debugging information of an object names, by its
// absolute path, as snapshot.Process.OpenSource does. If this process is root, the owners of
// the separate debug files and split units that were read must also have the right to read
// it, because another user could have put them next to a program. OpenSource may be called
// after Close.
func (o *Objects) OpenSource(path string) (*os.File, error) {
	process := o.snapshot.Process
	f, err := process.OpenSource(path)
	if err != nil {
		return nil, err
	}
	root := ""
	if process != nil {
		root = process.SourceRoot
	}
	owners := o.partOwners
	if owners == nil {
		now := o.readPartOwners()
		owners = &now
	}
	if err := owners.Check(f, root, path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readPartOwners returns the owners of the files with debugging information that was read,
// except the mapped files themselves.
func (o *Objects) readPartOwners() object.PartOwners {
	return object.PartOwnersOf(func(yield func(*object.File) bool) {
		for _, f := range o.files.open {
			if !yield(f) {
				return
			}
		}
		for _, mapped := range o.byModule {
			if mapped.file != nil && mapped.Loaded && !yield(mapped.file) {
				return
			}
		}
	})
}
