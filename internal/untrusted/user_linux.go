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

// OpenAs opens a file as [Open] does. Where this process has root's rights, it opens
// only what a user may read, as the kernel decides: every directory on the way and
// access control lists count. Where it has not, its own rights decide.
func OpenAs(user User, root, name string) (*os.File, error) {
	if user.ID == 0 && os.Geteuid() == 0 || !privileged() {
		return Open(root, name)
	}
	changes.Lock()
	defer changes.Unlock()
	var f *os.File
	err := as(user, func(become func() error) (err error) {
		f, err = open(join(root, name), func() (int, error) {
			// /proc/PID/root is for root to follow.
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

// privileged reports whether this process may read files in spite of their modes.
func privileged() bool {
	const overrides = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	err := unix.Capget(&header, &sets[0])
	return err != nil || os.Geteuid() == 0 || sets[0].Effective&overrides != 0
}

// as calls f on a thread of its own, where become gives up this process's rights for a
// user's. The thread ends with f: it never gets them back.
func as(user User, f func(become func() error) error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// But for the first one, whose user is what /proc shows of the process. Another
			// goroutine cannot be on it while this one waits.
			done <- as(user, f)
			runtime.UnlockOSThread()
			return
		}
		dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		err := f(func() error { return user.become() })
		if dumpable == 1 {
			// A change of user clears it for the whole process (prctl(2)). It is set again
			// before the next call can look at it.
			unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		}
		done <- err
	}()
	return <-done
}

// become takes on a user's rights to files, for the calling thread.
func (u User) become() error {
	if os.Geteuid() != 0 {
		return dropCapabilities() // the user's own rights are left
	}
	groups := u.Groups
	if _, _, err := unix.RawSyscall(setgroups, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); err != 0 {
		return fmt.Errorf("taking on the groups of user %d: setgroups: %w", u.ID, err)
	}
	runtime.KeepAlive(groups)
	// setfsuid(2): it reports no failure, but what was set before.
	unix.SetfsgidRetGid(int(u.Group))
	unix.SetfsuidRetUid(int(u.ID))
	group, _ := unix.SetfsgidRetGid(-1)
	id, _ := unix.SetfsuidRetUid(-1)
	if uint32(group) != u.Group || uint32(id) != u.ID {
		return fmt.Errorf("taking on the rights of user %d: %w", u.ID, errors.ErrUnsupported)
	}
	return dropCapabilities()
}

// dropCapabilities gives up what root may do beyond its own files.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}
