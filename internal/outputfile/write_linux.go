// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package outputfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// File is a file that is being written. Its methods must not be called concurrently.
type File struct {
	*os.File
	place *place
	old   *unix.Stat_t // the file that it replaces, or nil
	part  string       // its name until Commit; "" for a file without a name
}

// Create makes a file for reading and writing, which Commit puts at path. Until then an
// existing file at path is unchanged.
//
// A new file has mode 0600 if the user is root, and otherwise 0666 less the umask. A
// file that replaces another gets its mode and owner.
//
// Links are followed only in directories that no other user can write to. In other
// directories the error for a link wraps ErrPlanted. So does the error for a file of another
// user that may not be written by the kernel's rule for sticky directories. A path that is
// not a regular file is an error too. All errors are *fs.PathErrors of path.
func Create(path string) (*File, error) {
	p, err := locate(path, false)
	if err != nil {
		return nil, err
	}
	f, err := p.create()
	if err != nil {
		p.close()
		return nil, err
	}
	return f, nil
}

// Write creates a file as Create does, and calls write to fill it. A FIFO or a device is
// written to directly, and so is the target of a link of procfs such as /dev/stdout.
func Write(path string, write func(io.Writer) error) error {
	p, err := locate(path, false)
	if err != nil {
		return err
	}
	f, err := p.create()
	if errors.Is(err, errIrregular) {
		defer p.close()
		return p.into(write)
	}
	if err != nil {
		p.close()
		return err
	}
	defer f.Close()
	if err := buffered(f.File, write); err != nil {
		return err
	}
	return f.Commit()
}

var errIrregular = errors.New("not a regular file")

// create makes a file in the directory. If the file system can, the file has no name, so
// that it vanishes however this process ends.
func (p *place) create() (*File, error) {
	f := &File{place: p}
	var old unix.Stat_t
	err := unix.Fstatat(p.fd, p.name, &old, unix.AT_SYMLINK_NOFOLLOW)
	switch kind := old.Mode & unix.S_IFMT; {
	case err != nil && err != unix.ENOENT:
		return nil, p.error("open", err)
	case err == nil && kind == unix.S_IFDIR:
		return nil, p.error("open", unix.EISDIR)
	case err == nil && p.procfs:
		return nil, p.error("open", errIrregular)
	case err == nil:
		if err := p.check(&old); err != nil {
			return nil, err
		}
		if kind != unix.S_IFREG {
			return nil, p.error("open", errIrregular)
		}
		f.old = &old
	}
	const flags = unix.O_RDWR | unix.O_CLOEXEC
	fd := -1
	if unix.Access("/proc/self/fd", unix.F_OK) == nil { // Commit needs it
		fd, err = unix.Openat(p.fd, ".", flags|unix.O_TMPFILE, uint32(mode()))
	}
	if fd < 0 {
		f.part = temporaryName(p.name)
		fd, err = unix.Openat(p.fd, f.part, flags|unix.O_CREAT|unix.O_EXCL, uint32(mode()))
	}
	if err != nil {
		return nil, p.error("open", err)
	}
	f.File = os.NewFile(uintptr(fd), p.path)
	return f, nil
}

// into writes to the existing file.
func (p *place) into(write func(io.Writer) error) error {
	flags := unix.O_WRONLY | unix.O_CLOEXEC
	if p.procfs {
		flags |= unix.O_TRUNC
	} else {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat(p.fd, p.name, flags, 0)
	if err != nil {
		return p.error("open", err)
	}
	f := os.NewFile(uintptr(fd), p.path)
	return errors.Join(buffered(f, write), f.Close())
}

// Commit gives the file its name, and replaces the file that had it. The file stays open.
func (f *File) Commit() error {
	p, fd := f.place, int(f.Fd())
	if f.old != nil {
		if err := f.makeLikeOld(fd); err != nil {
			return err
		}
	}
	if f.part == "" {
		name := temporaryName(p.name)
		if err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), p.fd, name, unix.AT_SYMLINK_FOLLOW); err != nil {
			return p.error("link", err)
		}
		f.part = name
	} else if err := f.Sync(); err != nil { // NFS reports late that a disk is full
		return err
	}
	if err := unix.Renameat(p.fd, f.part, p.fd, p.name); err != nil {
		return p.error("rename", err)
	}
	f.part = ""
	return nil
}

// Close closes the file, and removes it unless it was committed. Closing it twice is not
// an error.
func (f *File) Close() error {
	if f.place == nil {
		return nil
	}
	if f.part != "" {
		unix.Unlinkat(f.place.fd, f.part, 0)
	}
	f.place.close()
	f.place = nil
	return f.File.Close()
}

// Detach returns the file after Commit. It is the caller's, and Close does nothing.
func (f *File) Detach() *os.File {
	f.place.close()
	f.place = nil
	return f.File
}

// makeLikeOld gives the file the owner and the mode of the one that it replaces.
func (f *File) makeLikeOld(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return f.place.error("stat", err)
	}
	if st.Uid != f.old.Uid || st.Gid != f.old.Gid {
		if err := unix.Fchown(fd, int(f.old.Uid), int(f.old.Gid)); err != nil {
			return f.place.error("chown", fmt.Errorf("its owner, user %d and group %d, cannot be kept: %w; remove it first", f.old.Uid, f.old.Gid, err))
		}
	}
	if err := unix.Fchmod(fd, f.old.Mode&0o777); err != nil {
		return f.place.error("chmod", err)
	}
	return nil
}

// temporaryName returns a hidden name that cannot be guessed.
func temporaryName(name string) string { return "." + name[:min(len(name), 200)] + "." + rand.Text() }

// Append opens a file to append to it, and makes it with mode 0600 if it does not exist. If
// it is not a regular file of this process's user with one name, the error wraps ErrPlanted.
// Append never waits for the reader of a FIFO.
func Append(path string) (*os.File, error) {
	return openOwn(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT)
}

// Read opens a file that Append has written, for reading.
func Read(path string) (*os.File, error) { return openOwn(path, unix.O_RDONLY) }

func openOwn(path string, flags int) (*os.File, error) {
	p, err := locate(path, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	fd, err := unix.Openat(p.fd, p.name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0o600)
	if err == unix.ENXIO { // a FIFO without a reader, or a socket (open(2))
		return nil, planted(path, "a FIFO or a socket, expected a regular file; remove it")
	}
	if err != nil {
		return nil, p.error("open", err)
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	switch {
	case err != nil:
		err = p.error("stat", err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = planted(path, "%s, expected a regular file; remove it", kind(fileMode(st.Mode)))
	case int(st.Uid) != os.Geteuid():
		err = planted(path, "a file of user %d, expected user %d; remove it", st.Uid, os.Geteuid())
	case st.Nlink != 1:
		err = planted(path, "a file with %d names, expected 1; remove this name", st.Nlink)
	default:
		// A regular file ignores the flag, but package os does not.
		unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&unix.O_APPEND)
		return os.NewFile(uintptr(fd), path), nil
	}
	unix.Close(fd)
	return nil, err
}

// Directory opens a directory. It makes the directory and its parents with mode 0700 if they do not exist, and
// follows links as Create does.
func Directory(path string) (*os.Root, error) {
	p, err := locate(path, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(p.fd))
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.error("open", at.Err)
	}
	return root, err
}

// Temporary makes a file without a name in a directory; "" is os.TempDir. Closing it frees
// its space, however this process ends.
func Temporary(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(dir, "temporary file without a name")), nil
	}
	return unnamed(dir)
}
