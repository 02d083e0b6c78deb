// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenAs is like [Open]. If this process has root's rights, it opens only a file that a user
// may read. The kernel decides this, by the directories of the path and access control lists
// too. Otherwise the rights of this process apply.
func OpenAs(user User, root, name string) (*os.File, error) {
	if user.ID == 0 && os.Geteuid() == 0 || !privileged() {
		return Open(root, name)
	}
	changes.Lock()
	defer changes.Unlock()
	var f *os.File
	err := as(user, func(become func() error) (err error) {
		f, err = open(join(root, name), func() (int, error) {
			// Only root can follow /proc/PID/root.
			dir := unix.AT_FDCWD
			if root != "" {
				if dir, err = openRoot(root); err != nil {
					return -1, err
				}
				defer unix.Close(dir)
			}
			if err := become(); err != nil {
				return -1, err
			}
			return findFrom(dir, root, name, 0)
		})
		return err
	})
	return f, denied(err, fmt.Sprintf("it is read with the rights of user %d", user.ID))
}

// changes guards PR_SET_DUMPABLE.
var changes sync.Mutex

// privileged reports whether this process can read files against their modes.
func privileged() bool {
	const overrides = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	err := unix.Capget(&header, &sets[0])
	return err != nil || os.Geteuid() == 0 || sets[0].Effective&overrides != 0
}

// as calls f on a new thread. There become replaces this process's rights with a user's. The
// thread ends after f, and never gets the rights back.
func as(user User, f func(become func() error) error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// /proc shows the user of the first thread as that of the process. While this
			// goroutine waits on it, the other one runs on another thread.
			done <- as(user, f)
			runtime.UnlockOSThread()
			return
		}
		dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		err := f(func() error { return user.become() })
		if dumpable == 1 {
			// A change of user clears it for the whole process (prctl(2)). Set it before the
			// next call reads it.
			unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		}
		done <- err
	}()
	return <-done
}

// become gives the calling thread a user's rights to files.
func (u User) become() error {
	if os.Geteuid() != 0 {
		return dropCapabilities() // the rights of this process's user remain
	}
	groups := u.Groups
	if _, _, err := unix.RawSyscall(setgroups, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); err != 0 {
		return fmt.Errorf("changing to the groups of user %d: setgroups: %w", u.ID, err)
	}
	runtime.KeepAlive(groups)
	// setfsuid(2) does not report failures, but returns the previous value.
	unix.SetfsgidRetGid(int(u.Group))
	unix.SetfsuidRetUid(int(u.ID))
	group, _ := unix.SetfsgidRetGid(-1)
	id, _ := unix.SetfsuidRetUid(-1)
	if uint32(group) != u.Group || uint32(id) != u.ID {
		return fmt.Errorf("changing to the rights of user %d: %w", u.ID, errors.ErrUnsupported)
	}
	return dropCapabilities()
}

// dropCapabilities drops all capabilities.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}
