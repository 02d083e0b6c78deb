// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package jit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func newMemory(size int) (*Memory, error) {
	page := os.Getpagesize()
	if size <= 0 || size > math.MaxInt-3*page {
		return nil, fmt.Errorf("%w: a size of %d bytes", ErrMemory, size)
	}
	size = (size + page - 1) / page * page
	// The guard pages are the parts of one inaccessible mapping that mprotect leaves
	// alone, so that no other mapping can lie between them and the code.
	mapping, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("%w: mmap of %d bytes: %w", ErrMemory, size+2*page, err)
	}
	m := &Memory{mapping: mapping, bytes: mapping[page : page+size : page+size]}
	if err := m.protect(unix.PROT_READ | unix.PROT_WRITE); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *Memory) seal() error {
	if m.sealed {
		return nil
	}
	if m.bytes == nil {
		return fmt.Errorf("%w: it was closed", ErrMemory)
	}
	if err := m.protect(unix.PROT_READ | unix.PROT_EXEC); err != nil {
		return err
	}
	synchronizeCode(m.bytes)
	m.sealed = true
	return nil
}

func (m *Memory) unseal() error {
	if !m.sealed {
		return nil
	}
	if err := m.protect(unix.PROT_READ | unix.PROT_WRITE); err != nil {
		return err
	}
	m.sealed = false
	return nil
}

func (m *Memory) close() error {
	if m.mapping == nil {
		return nil
	}
	if err := unix.Munmap(m.mapping); err != nil {
		return fmt.Errorf("munmap of memory for code: %w", err)
	}
	*m = Memory{}
	return nil
}

func (m *Memory) protect(protection int) error {
	err := unix.Mprotect(m.bytes, protection)
	if err == nil {
		return nil
	}
	what := "writable"
	if protection&unix.PROT_EXEC != 0 {
		what = "executable"
	}
	err = fmt.Errorf("%w: mprotect of %d bytes to %s: %w", ErrMemory, len(m.bytes), what, err)
	if protection&unix.PROT_EXEC != 0 && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		// The kernel itself never refuses this. Each of these does, with one of
		// these two errors (SELinux: security/selinux/hooks.c
		// file_map_prot_check; prctl: PR_SET_MDWE(2const); systemd.exec(5)).
		err = fmt.Errorf("%w: this process may not make memory executable; it is forbidden by SELinux (execmem), by a seccomp filter (systemd's MemoryDenyWriteExecute=, a container's profile) or by prctl(PR_SET_MDWE)", err)
	}
	return err
}

func synchronize(code []byte) {
	if len(code) > 0 {
		synchronizeCode(code)
	}
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
