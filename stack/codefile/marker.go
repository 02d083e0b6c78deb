// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
)

// Marker is a mapping by which a process announces a jitdump to perf (perf.IsMarker).
type Marker struct {
	Path  string // as the process sees it
	Inode uint64 // of the mapped file, 0 if unknown

	// Open opens the mapped file, even if another file has its path now. If it is nil,
	// the file at the path is opened.
	Open func() (*os.File, error)
}

// openMarker opens the jitdump of a marker. A file that the process has mapped may have any
// owner.
func openMarker(p *snapshot.Process, m *Marker) (*os.File, error) {
	if m.Open != nil {
		return m.Open()
	}
	if m.Inode == 0 || p.Users == nil {
		return p.Open(m.Path)
	}
	f, err := untrusted.OpenPlanted(p.Root, m.Path)
	if err != nil {
		return nil, err
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err == nil {
		if is := untrusted.IdentityOf(info); is != (untrusted.Identity{}) && is.Inode != m.Inode {
			err = fmt.Errorf("%s: not the file that was mapped (inode %d, expected %d)", m.Path, is.Inode, m.Inode)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
