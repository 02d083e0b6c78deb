// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Types of files, as in cpio and stat.
const (
	typeFolder = 0o040000
	typeFile   = 0o100000
	typeLink   = 0o120000
	typeDevice = 0o020000 // of characters
)

// A file is one entry of an initramfs.
type file struct {
	mode    uint32 // type and permissions
	content []byte // of a link: its target
	major   uint32 // of a device
	minor   uint32
}

// A tree contains files by their paths, without a leading slash.
type tree map[string]file

// add adds a file and its parent directories.
func (t tree) add(name string, f file) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := t[dir]; !ok {
			t[dir] = file{mode: typeFolder | 0o755}
		}
	}
	t[name] = f
}

// addFS adds all files of a file system below a directory.
func (t tree) addFS(fsys fs.FS, folder string) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return t.addFrom(fsys, name, path.Join(folder, name))
	})
}

// addFrom adds one file or link of a file system.
func (t tree) addFrom(fsys fs.FS, name, as string) error {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case 0:
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		t.add(as, file{mode: typeFile | uint32(info.Mode().Perm()), content: content})
	case fs.ModeSymlink:
		target, err := fs.ReadLink(fsys, name)
		if err != nil {
			return err
		}
		t.add(as, file{mode: typeLink | 0o777, content: []byte(target)})
	default:
		return &fs.PathError{Op: "pack", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// write writes the tree in the "new ASCII" format of cpio, which the kernel unpacks
// (Documentation/driver-api/early-userspace/buffer-format.rst).
func (t tree) write(w io.Writer) error {
	// Sorted, so that a directory precedes its files.
	for i, name := range slices.Sorted(maps.Keys(t)) {
		if err := writeEntry(w, i+1, name, t[name]); err != nil {
			return err
		}
	}
	return writeEntry(w, 0, "TRAILER!!!", file{})
}

func writeEntry(w io.Writer, inode int, name string, f file) error {
	header := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		inode, f.mode, 0, 0, // owner: root
		1, 0, // links, time
		len(f.content), 0, 0, f.major, f.minor, len(name)+1, 0)
	for _, part := range [][]byte{[]byte(header + name + "\x00"), f.content} {
		// The name and the content are both padded to multiples of 4.
		if _, err := w.Write(append(part[:len(part):len(part)], make([]byte, -len(part)&3)...)); err != nil {
			return err
		}
	}
	return nil
}
