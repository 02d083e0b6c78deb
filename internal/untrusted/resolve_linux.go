// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// pathOnly are the flags for a descriptor that does not open its file.
const pathOnly = unix.O_PATH | unix.O_CLOEXEC

// find returns an O_PATH descriptor of a file, which the caller closes. It resolves the name
// below root without magic links. With O_NOFOLLOW in flags, it returns a descriptor of the
// link if the last component is one.
func find(root, name string, flags uint64) (int, error) {
	dir := unix.AT_FDCWD
	if root != "" {
		var err error
		if dir, err = openRoot(root); err != nil {
			return -1, err
		}
		defer unix.Close(dir)
	}
	return findFrom(dir, root, name, flags)
}

// findFrom is find with an open root directory, unix.AT_FDCWD if root is "".
func findFrom(dir int, root, name string, flags uint64) (int, error) {
	if root == "" {
		return findBelow(dir, name, flags, 0)
	}
	return findBelow(dir, name, flags, unix.RESOLVE_IN_ROOT)
}

// openRoot opens a root directory, which may be a magic link: /proc/PID/root.
func openRoot(root string) (int, error) {
	return restart(func() (int, error) { return unix.Open(root, pathOnly|unix.O_DIRECTORY, 0) })
}

func findNamed(name string) (int, error) {
	return restart(func() (int, error) { return unix.Open(name, pathOnly, 0) })
}

var errMagic = errors.New("the path contains a link of procfs, which is not followed")

// openat2 is replaced by tests.
var openat2 = unix.Openat2

// findBelow resolves a name from dir, which is the root directory if resolve contains
// RESOLVE_IN_ROOT, and otherwise unix.AT_FDCWD.
func findBelow(dir int, name string, flags, resolve uint64) (int, error) {
	below := name
	if resolve&unix.RESOLVE_IN_ROOT != 0 {
		if below = strings.TrimLeft(name, "/"); below == "" {
			below = "."
		}
	}
	how := unix.OpenHow{Flags: pathOnly | flags, Resolve: resolve | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := restart(func() (int, error) { return openat2(dir, below, &how) })
	switch err {
	case unix.ELOOP:
		return -1, fmt.Errorf("%w, or %w", err, errMagic)
	case unix.ENOSYS, unix.EPERM, // before Linux 5.6; a seccomp filter
		unix.EAGAIN: // openat2(2): something was renamed while ".." was resolved
		return walk(dir, name, flags, resolve&unix.RESOLVE_IN_ROOT != 0)
	}
	return fd, err
}

const (
	maxLinks = 40      // the kernel's MAXSYMLINKS
	maxSteps = 4 << 10 // components of a walk, including repeated ones
)

// walk is findBelow without openat2. It resolves the name component by component, and follows
// links itself. It opens each directory as a child of the previous one, so that files that
// are renamed or replaced meanwhile cannot lead out of the root.
func walk(dir int, name string, flags uint64, inRoot bool) (int, error) {
	if len(name) >= unix.PathMax {
		return -1, unix.ENAMETOOLONG
	}
	if !inRoot {
		if !path.IsAbs(name) {
			current, err := os.Getwd()
			if err != nil {
				return -1, err
			}
			name = current + "/" + name
		}
		root, err := openRoot("/")
		if err != nil {
			return -1, err
		}
		defer unix.Close(root)
		dir = root
	}
	w := walker{root: dir, at: dir, todo: strings.Split(name, "/"), noFollow: flags&unix.O_NOFOLLOW != 0}
	defer w.up()
	for steps := 0; len(w.todo) > 0; steps++ {
		if steps >= maxSteps {
			return -1, unix.ENAMETOOLONG
		}
		if err := w.step(); err != nil {
			return -1, err
		}
	}
	return restart(func() (int, error) { return unix.FcntlInt(uintptr(w.at), unix.F_DUPFD_CLOEXEC, 0) })
}

// walker is the state of a walk.
type walker struct {
	root, at int
	done     []string // the directories that lead to at from root
	todo     []string
	links    int
	noFollow bool // if the last component is a link, the walk ends at the link
}

// up goes back to the root.
func (w *walker) up() {
	if w.at != w.root {
		unix.Close(w.at)
	}
	w.at = w.root
}

// step takes the next component.
func (w *walker) step() error {
	name := w.todo[0]
	w.todo = w.todo[1:]
	switch name {
	case "", ".":
		return nil
	case "..":
		// Start again from the root, because the directory may have been moved.
		w.todo = slices.Concat(w.done[:max(len(w.done)-1, 0)], w.todo)
		w.done = nil
		w.up()
		return nil
	}
	fd, err := restart(func() (int, error) { return unix.Openat(w.at, name, pathOnly|unix.O_NOFOLLOW, 0) })
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return err
	}
	switch mode := st.Mode & unix.S_IFMT; {
	case mode == unix.S_IFLNK && !(w.noFollow && len(w.todo) == 0):
		defer unix.Close(fd)
		return w.follow(fd)
	case mode != unix.S_IFDIR && len(w.todo) > 0:
		unix.Close(fd)
		return unix.ENOTDIR
	}
	w.up()
	w.at, w.done = fd, append(w.done, name)
	return nil
}

// follow puts the target of a symbolic link before the remaining components.
func (w *walker) follow(link int) error {
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	var system unix.Statfs_t
	if err := retryInterrupted(func() error { return unix.Fstatfs(link, &system) }); err != nil {
		return err
	}
	if system.Type == unix.PROC_SUPER_MAGIC {
		return errMagic // or an ordinary link in procfs, whose files are refused anyway
	}
	text := make([]byte, unix.PathMax)
	n, err := restart(func() (int, error) { return unix.Readlinkat(link, "", text) })
	if err != nil {
		return err
	}
	to := string(text[:n])
	if path.IsAbs(to) {
		w.up()
		w.done = nil
	}
	w.todo = slices.Concat(strings.Split(to, "/"), w.todo)
	return nil
}
