// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
)

// A recording of all processes meets new files as long as it runs, such as those of compilers and
// tests. Files that no living process maps keep only their mapping and header, by which their frames
// get names at the end. The last ones keep their unwind tables too, because a program that starts a
// hundred times a second would need them again.
const (
	// maxUnused bounds the files with tables that no process maps, and maxUnusedBytes their size.
	maxUnused      = 32
	maxUnusedBytes = 128 << 20

	// trimAfter is how many address spaces end before unused files are looked for. A look takes
	// as long as a few samples.
	trimAfter = 64
)

// markUsed marks the files that processes map.
func (b *builder) markUsed() {
	b.marks++
	for _, p := range b.processes {
		for _, r := range p.space.modules.Ranges() {
			// Parts of a module that is in use can be those of others: both count.
			if m := mappedBy(r.Module); m != nil {
				m.file.canonical().mark = b.marks
			}
		}
	}
}

func (b *builder) used(f *file) bool { return f.canonical().mark == b.marks }

// trim drops the tables of files that no process maps any more, if enough spaces have ended, and
// forgets those of them without a frame.
func (b *builder) trim() {
	if b.opts.Live == nil || b.endedSpaces < trimAfter {
		return
	}
	b.endedSpaces = 0
	b.trimDumps()
	b.markUsed()
	maps.DeleteFunc(b.files, func(_ fileKey, f *file) bool { return !b.used(f) && !f.opened && f.shared == nil })
	b.fileList = slices.DeleteFunc(b.fileList, func(f *file) bool { return !b.used(f) && !f.opened && f.shared == nil })
	var unused []*file
	for _, f := range b.fileList {
		if !b.used(f) && f.object != nil && !f.trimmed {
			unused = append(unused, f)
		}
	}
	slices.SortFunc(unused, func(x, y *file) int { return cmp.Compare(y.latest, x.latest) })
	size := uint64(0)
	for i, f := range unused {
		if size += f.object.StoredSize(); i >= maxUnused || size > maxUnusedBytes {
			f.trim()
		}
	}
}

// trimDumps drops the content of jitdumps that no process maps any more. Their frames have names, and what
// all jitdumps may take is left to those of running processes.
func (b *builder) trimDumps() {
	used := make(map[*jitdump]bool)
	for _, p := range b.processes {
		for _, d := range p.space.code.dumps {
			used[d] = true
		}
	}
	var unused []*jitdump
	for _, d := range b.dumps {
		if d.code != nil && !used[d] {
			unused = append(unused, d)
		}
	}
	if len(unused) == 0 {
		return
	}
	b.retryPlacesOf(unused)
	for _, d := range unused {
		d.code, d.bytes = nil, 0
		delete(b.dumps, d.fileKey)
	}
}

// trim drops the tables of a file. Frames in it keep their addresses.
func (f *file) trim() {
	f.trimmed, f.tables = true, stack.FileTables{Go: f.tables.Go}
	if err := f.object.Trim(); err != nil {
		f.builder.noteError(err)
	}
}

// renew reads the tables of a file that was trimmed.
func (f *file) renew() {
	if f.trimmed {
		f.trimmed, f.tables = false, stack.ReadTables(f.object, true)
	}
}

// fileID identifies the content of a file that is mapped: by its inode, which no other file can have
// while it is mapped, and the time of its last change, or by its build ID, size and owner.
type fileID struct {
	untrusted.Identity
	change, size int64
	buildID      string
	owner        uint32
}

// shareObject makes a file that was just opened one with another that was opened from the same
// inode, or has the same build ID and the same bytes. Each container has mounts of its own, so processes of
// containers map the same libraries from different devices.
func (b *builder) shareObject(f *file) {
	info := f.object.Info()
	if b.opts.Live == nil || info == nil {
		return
	}
	byInode := fileID{Identity: untrusted.IdentityOf(info), change: info.ModTime().UnixNano(), size: info.Size()}
	byBuildID := fileID{size: info.Size(), buildID: hex.EncodeToString(f.object.BuildID()), owner: untrusted.OwnerOf(info).ID}
	known := b.opened[byInode]
	if known == nil && byBuildID.buildID != "" {
		// A program can have any build ID: only the same bytes are the same file.
		if known = b.opened[byBuildID]; known != nil && !sameBytes(known.object, f.object) {
			known = nil
		}
	}
	if known == nil {
		b.opened[byInode] = f
		if byBuildID.buildID != "" && b.opened[byBuildID] == nil {
			b.opened[byBuildID] = f
		}
		return
	}
	f.object.Close()
	f.object, f.shared = nil, known
	known.latest = max(known.latest, f.latest)
	b.files[f.fileKey] = known
	b.fileList = slices.DeleteFunc(b.fileList, func(other *file) bool { return other == f })
}

// maxCompared is the size in bytes up to which files are compared.
const maxCompared = 64 << 20

// sameBytes reports whether two files have the same content.
func sameBytes(a, b *object.File) (same bool) {
	if len(a.Bytes()) > maxCompared {
		return false
	}
	err := object.Guard(func() error { same = bytes.Equal(a.Bytes(), b.Bytes()); return nil })
	return err == nil && same
}

// canonical returns the file that stands for f: see shareObject.
func (f *file) canonical() *file {
	if f.shared != nil {
		return f.shared
	}
	return f
}
