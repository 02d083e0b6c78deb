// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Open opens a regular file for reading by its absolute path in the root directory root, as
// a process with that root directory would. Symbolic links, absolute ones too, do not lead
// out of root. If root is "" the path is this process's, and may be relative. In either
// case the magic links of procfs (/proc/PID/fd/N, exe, cwd, root) are not followed; root
// itself can be one, as /proc/PID/root is. The error is an [*fs.PathError].
func Open(root, name string) (*os.File, error) {
	return open(join(root, name), func() (int, error) { return find(root, name, 0) })
}

// OpenPlanted is like [Open], for a file in a directory like /tmp, where other users can
// create links. If this process has root's rights, the last component of the name must not
// be a link.
func OpenPlanted(root, name string) (*os.File, error) {
	flags := uint64(0)
	if privileged() {
		flags = unix.O_NOFOLLOW
	}
	return open(join(root, name), func() (int, error) { return find(root, name, flags) })
}

// OpenNamed opens a regular file for reading by a trusted name: the user typed it, or it is
// a link of the kernel, such as /proc/PID/exe and the links in /proc/PID/map_files. It
// follows all links. It refuses the same files as [Open]. The error is
// an [*fs.PathError].
func OpenNamed(name string) (*os.File, error) {
	f, err := open(name, func() (int, error) { return findNamed(name) })
	if errors.Is(err, errNoProc) {
		return openPlainly(name)
	}
	return f, err
}

// openPlainly opens a file by its trusted name, without procfs. The caller has checked that
// the file is regular.
func openPlainly(name string) (*os.File, error) {
	fd, err := openNow(name)
	if err == nil {
		if err = checkRegular(fd); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// descriptors is replaced by tests.
var descriptors = "/proc/self/fd/"

var errNoProc = errors.New("the file cannot be opened safely without procfs at /proc")

// OpenInput is like [OpenNamed], but also opens FIFOs and character devices, such as
// /dev/stdin, because the user asked for them. Opening a FIFO waits for a writer.
func OpenInput(name string) (*os.File, error) {
	f, err := OpenNamed(name)
	if irregular, ok := errors.AsType[*irregularError](err); ok && irregular.stream() {
		return os.Open(name)
	}
	return f, err
}

// Stat returns the result of fstat(2) for a file of any kind, without opening it. It
// resolves the path as [Open] does.
func Stat(root, name string) (fs.FileInfo, error) {
	at, err := find(root, name, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: join(root, name), Err: err}
	}
	f := os.NewFile(uintptr(at), join(root, name))
	defer f.Close()
	return f.Stat()
}

// open opens the regular file of the O_PATH descriptor that find returns.
func open(full string, find func() (int, error)) (*os.File, error) {
	at, err := find()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	defer unix.Close(at)
	fd, err := reopen(at)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	return os.NewFile(uintptr(fd), full), nil
}

// reopen opens the file of an O_PATH descriptor, if it is a regular file. The file cannot be
// replaced meanwhile: the link leads to the file itself, not to its name (proc_pid_fd(5)).
func reopen(at int) (fd int, err error) {
	if err := checkRegular(at); err != nil {
		return -1, err
	}
	fd, err = openNow(descriptors + strconv.Itoa(at))
	if err == unix.ENOENT {
		err = errNoProc
	}
	return fd, err
}

// openNow opens a file for reading. It waits neither for the release of a lease nor for the
// writer of a FIFO.
func openNow(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK
	fd, err := restart(func() (int, error) { return unix.Open(name, flags, 0) })
	switch err {
	case nil:
		// Reading a regular file ignores the flag, but package os does not.
		unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	case unix.EWOULDBLOCK:
		err = fmt.Errorf("%w (%w)", ErrLeased, err)
	}
	return fd, err
}

// irregularError is the error for a file that is not regular.
type irregularError struct {
	mode uint32 // S_IFMT bits
	kind string
}

func (e *irregularError) Error() string { return ErrNotRegular.Error() + " (it is " + e.kind + ")" }
func (e *irregularError) Unwrap() error { return ErrNotRegular }

// stream reports whether the file can be read as a stream of bytes.
func (e *irregularError) stream() bool { return e.mode == unix.S_IFIFO || e.mode == unix.S_IFCHR }

var kinds = map[uint32]string{unix.S_IFDIR: "a directory", unix.S_IFCHR: "a character device", unix.S_IFBLK: "a block device",
	unix.S_IFIFO: "a FIFO", unix.S_IFSOCK: "a socket", unix.S_IFLNK: "a symbolic link"}

// kernelFileSystems are file systems without stored content. Reading some of their files
// waits (/proc/kmsg, tracefs's trace_pipe), has an effect, or never ends.
var kernelFileSystems = map[int64]string{
	unix.PROC_SUPER_MAGIC: "procfs", unix.SYSFS_MAGIC: "sysfs", unix.TRACEFS_MAGIC: "tracefs", unix.DEBUGFS_MAGIC: "debugfs",
	unix.SECURITYFS_MAGIC: "securityfs", unix.SELINUX_MAGIC: "selinuxfs", unix.SMACK_MAGIC: "smackfs", unix.BPF_FS_MAGIC: "bpffs",
	unix.CGROUP_SUPER_MAGIC: "cgroup", unix.CGROUP2_SUPER_MAGIC: "cgroup2", unix.PSTOREFS_MAGIC: "pstore", unix.EFIVARFS_MAGIC: "efivarfs",
	unix.BINFMTFS_MAGIC: "binfmt_misc", unix.NSFS_MAGIC: "nsfs", unix.RDTGROUP_SUPER_MAGIC: "resctrl",
	configFS: "configfs", fuseControl: "fusectl", messageQueues: "mqueue",
}

// Not in include/uapi/linux/magic.h.
const (
	configFS      = 0x62656570 // fs/configfs/mount.c
	fuseControl   = 0x65735543 // fs/fuse/control.c
	messageQueues = 0x19800202 // ipc/mqueue.c
)

// checkRegular returns an error unless a descriptor is that of a regular file on a file
// system that stores it.
func checkRegular(at int) error {
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	if mode := uint32(st.Mode) & unix.S_IFMT; mode != unix.S_IFREG {
		kind := kinds[mode]
		if kind == "" { // anon_inode_getfile of the kernel leaves it 0
			kind = "of no type"
		}
		return &irregularError{mode, kind}
	}
	if unix.Major(uint64(st.Dev)) != 0 {
		return nil // on a block device; a file system without one has major number 0
	}
	var system unix.Statfs_t
	err := retryInterrupted(func() error { return unix.Fstatfs(at, &system) })
	if err != nil {
		return err
	}
	if name, ok := kernelFileSystems[int64(system.Type)&0xffffffff]; ok {
		return &irregularError{unix.S_IFREG, "a file of " + name}
	}
	return nil
}

func restart(call func() (int, error)) (n int, err error) {
	err = retryInterrupted(func() (err error) { n, err = call(); return err })
	return n, err
}

// retryInterrupted repeats a system call that a signal interrupts, as the signals of Go's
// scheduler do on network file systems.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
