// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package outputfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// place is a name in an open directory. A new link cannot change which directory it is.
type place struct {
	fd      int // of the directory, O_PATH
	name    string
	path    string // that the user gave, for errors
	dir     unix.Stat_t
	procfs  bool // the directory is one of procfs, whose links only the kernel can follow
	foreign bool // the path went through such a link, for example /proc/PID/root
}

// locate resolves a path component by component. It does not follow links that another
// user could have made or can change. The last component may not exist. If directory is set, the
// path is that of a directory, which has no name in p; locate makes it and its parents.
func locate(path string, directory bool) (_ *place, err error) {
	p := &place{path: path, fd: -1}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if path == "" {
		return nil, p.error("open", unix.ENOENT)
	}
	components, err := p.begin(path)
	if err != nil {
		return nil, err
	}
	for links := 0; len(components) > 0; {
		name := components[0]
		components = components[1:]
		last := len(components) == 0
		if name == "" || name == "." {
			continue
		}
		var st unix.Stat_t
		err := unix.Fstatat(p.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		isLink := err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
		switch {
		case directory && err == unix.ENOENT:
			if err := unix.Mkdirat(p.fd, name, 0o700); err != nil && err != unix.EEXIST {
				return nil, p.error("mkdir", err)
			}
			if err := p.enter(p.fd, name); err != nil {
				return nil, err
			}
			continue
		case !directory && last && name != ".." && (err == unix.ENOENT || err == nil && (!isLink || p.procfs)):
			p.name = name
			return p, nil
		case err != nil:
			return nil, p.error("open", err)
		case !isLink || p.procfs:
			if err := p.enter(p.fd, name); err != nil {
				return nil, err
			}
			continue
		case p.shared():
			return nil, planted(path, "%s is a symbolic link in a directory that other users can write to (%s); name its target instead", name, p.owner())
		}
		if links++; links > 40 { // as in the kernel, path_resolution(7)
			return nil, p.error("open", unix.ELOOP)
		}
		to := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(p.fd, name, to)
		if err != nil {
			return nil, p.error("readlink", err)
		}
		target, err := p.begin(string(to[:n]))
		if err != nil {
			return nil, err
		}
		components = append(target, components...)
	}
	if directory {
		return p, nil
	}
	return nil, p.error("open", unix.EISDIR)
}

// begin enters the directory where a path begins, and returns its components.
func (p *place) begin(path string) (components []string, err error) {
	switch {
	case filepath.IsAbs(path):
		err = p.enter(unix.AT_FDCWD, "/")
	case p.fd < 0:
		err = p.enter(unix.AT_FDCWD, ".")
	}
	return strings.Split(path, "/"), err
}

// enter makes a directory the current one. It follows links only in procfs.
func (p *place) enter(at int, name string) error {
	flags := unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	if !p.procfs {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat(at, name, flags, 0)
	if err != nil {
		return p.error("open", err)
	}
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
	p.fd = fd
	if err := unix.Fstat(fd, &p.dir); err != nil {
		return p.error("stat", err)
	}
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return p.error("statfs", err)
	}
	procfs := system.Type == unix.PROC_SUPER_MAGIC
	p.foreign = p.foreign || p.procfs && !procfs
	p.procfs = procfs
	return nil
}

func (p *place) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
}

// shared reports whether other users than root can make names in the directory.
func (p *place) shared() bool {
	return p.foreign || p.dir.Mode&0o022 != 0 || p.dir.Uid != 0 && int(p.dir.Uid) != os.Geteuid()
}

// check returns an error for a file that another user may have planted. The kernel has the
// same rule for sticky directories (may_create_in_sticky in Linux's fs/namei.c). Here it
// applies to regular files in other directories too: the new file has the owner of the old
// one.
func (p *place) check(st *unix.Stat_t) error {
	own := int(st.Uid) == os.Geteuid()
	sticky := p.dir.Mode&unix.S_ISVTX != 0
	regular := st.Mode&unix.S_IFMT == unix.S_IFREG
	switch {
	case !p.shared(), own && (sticky || regular), regular && st.Uid == p.dir.Uid:
		return nil
	}
	return planted(p.path, "%s of user %d in a directory that other users can write to (%s); remove it, or name another file", kind(fileMode(st.Mode)), st.Uid, p.owner())
}

func (p *place) owner() string {
	return fmt.Sprintf("mode %o of user %d", p.dir.Mode&0o7777, p.dir.Uid)
}

func (p *place) error(op string, err error) error {
	return &fs.PathError{Op: op, Path: p.path, Err: err}
}

// fileMode returns the type of a file.
func fileMode(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	}
	return fs.ModeDevice
}
