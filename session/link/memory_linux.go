// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package link

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

// mapping is a program's memory.
type mapping struct {
	start uintptr // of the reservation, or 0
	size  uintptr
	base  uint64 // of the program in it
}

// lowEnd is the end of the addresses for which sign and zero extension of 32 bits agree.
const lowEnd = 1 << 31

func (m *mapping) reserve(size, align uint64, low bool) (base uint64, err error) {
	m.size = uintptr(size + align)
	flags := unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	if !low {
		m.start, err = mmap(0, m.size, flags)
	} else {
		err = unix.ENOMEM
		if mapLow != 0 {
			m.start, err = mmap(0, m.size, flags|mapLow)
			if err == nil && m.start+m.size > lowEnd {
				unix.MunmapPtr(pointer(m.start), m.size)
				err = unix.ENOMEM
			}
		}
		// Try addresses between the kernel's lowest one and 2 GiB.
		for at := uintptr(64 << 20); err != nil && at+m.size <= lowEnd; at += 16 << 20 {
			m.start, err = mmap(at, m.size, flags|unix.MAP_FIXED_NOREPLACE)
			if err == nil && m.start != at {
				// Kernels before 4.17 use the address as a hint.
				unix.MunmapPtr(pointer(m.start), m.size)
				err = unix.ENOMEM
			}
		}
	}
	if err != nil {
		m.start = 0
		where := ""
		if low {
			where = " in the low 2 GiB, where code that is not position-independent must be (compile with -fPIC or -fpie)"
		}
		return 0, fmt.Errorf("%w: mmap of %d bytes%s: %w", errMemory, m.size, where, err)
	}
	m.base = roundUp(uint64(m.start), align)
	return m.base, nil
}

// fill writes the program to memory, and sets the permissions of its regions.
func (m *mapping) fill(l *linker) error {
	whole := m.bytes(l.regions[0].start, l.regions[regionCount-1].end)
	if err := protect(whole, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	for i := range l.regions {
		r := &l.regions[i]
		for _, s := range r.sections {
			copy(m.bytes(s.offset, s.offset+s.size), s.data)
		}
		permissions := [regionCount]int{textRegion: unix.PROT_READ | unix.PROT_EXEC, constantRegion: unix.PROT_READ, relroRegion: unix.PROT_READ}[i]
		if permissions == 0 || r.start == r.end {
			continue
		}
		if err := protect(m.bytes(r.start, r.end), permissions); err != nil {
			return err
		}
		if regionIndex(i) == textRegion {
			jit.Synchronize(m.bytes(r.start, r.end))
		}
	}
	return nil
}

func (m *mapping) close() error {
	if m.start == 0 {
		return nil
	}
	if err := unix.MunmapPtr(pointer(m.start), m.size); err != nil {
		return fmt.Errorf("munmap of a program: %w", err)
	}
	m.start = 0
	return nil
}

// bytes returns the memory between two offsets from the program's start.
func (m *mapping) bytes(start, end uint64) []byte {
	if start == end {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(uintptr(m.base+start))), end-start)
}

// pointer returns a pointer to an address outside Go's heap.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

func mmap(at, size uintptr, flags int) (uintptr, error) {
	p, err := unix.MmapPtr(-1, 0, pointer(at), size, unix.PROT_NONE, flags)
	return uintptr(p), err
}

func protect(b []byte, permissions int) error {
	if len(b) == 0 {
		return nil
	}
	err := unix.Mprotect(b, permissions)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: mprotect of %d bytes: %w", errMemory, len(b), err)
	if permissions&unix.PROT_EXEC != 0 && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		err = fmt.Errorf("%w: this process may not make memory executable; it is forbidden by SELinux (execmem), by a seccomp filter (systemd's MemoryDenyWriteExecute=, a container's profile) or by prctl(PR_SET_MDWE)", err)
	}
	return err
}
