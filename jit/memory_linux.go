// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package jit

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve maps n inaccessible bytes.
func reserve(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("%w: mmap of %d bytes: %w", ErrMemory, n, err)
	}
	return b, nil
}

func unmap(b []byte) error { return unix.Munmap(b) }

// protect makes memory readable, and either executable or writable.
func protect(b []byte, executable bool) error {
	protection, adjective := unix.PROT_READ|unix.PROT_WRITE, "writable"
	if executable {
		protection, adjective = unix.PROT_READ|unix.PROT_EXEC, "executable"
	}
	err := unix.Mprotect(b, protection)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: mprotect of %d bytes to %s: %w", ErrMemory, len(b), adjective, err)
	if executable && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		// The kernel itself never refuses this. Each of these does, with one of these two
		// errors (SELinux: security/selinux/hooks.c file_map_prot_check; prctl:
		// PR_SET_MDWE(2const); systemd.exec(5)).
		err = fmt.Errorf("%w: this process may not make memory executable; it is forbidden by SELinux (execmem), by a seccomp filter (systemd's MemoryDenyWriteExecute=, a container's profile) or by prctl(PR_SET_MDWE)", err)
	}
	return err
}
