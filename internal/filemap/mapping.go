// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package filemap

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mapping is a read-only mapping of a part of a file.
type Mapping struct {
	pages []byte // whole pages
	data  []byte // the mapped part of the file
	name  string
}

var mappings struct {
	sync.Mutex
	live map[*Mapping]struct{}
}

// Map maps length bytes of f from offset on. The caller still owns f and may close it at
// once. Errors of [Guard] contain the name. Reading bytes after the end of the file faults.
func Map(f *os.File, name string, offset, length int64) (*Mapping, error) {
	lead := offset % int64(os.Getpagesize())
	switch {
	case offset < 0 || length < 0 || length > math.MaxInt-lead:
		return nil, fmt.Errorf("%s: %d bytes at %#x cannot be mapped", name, length, offset)
	case length == 0:
		return &Mapping{name: name}, nil
	}
	// After a truncation both MAP_PRIVATE and MAP_SHARED fault beyond the new end.
	pages, err := syscall.Mmap(int(f.Fd()), offset-lead, int(lead+length), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", name, err)
	}
	m := &Mapping{pages: pages, data: pages[lead:], name: name}
	mappings.Lock()
	defer mappings.Unlock()
	if mappings.live == nil {
		mappings.live = make(map[*Mapping]struct{})
	}
	mappings.live[m] = struct{}{}
	return m, nil
}

// Bytes returns the mapped bytes. Reading them faults after Unmap.
func (m *Mapping) Bytes() []byte { return m.data }

// Unmap ends the mapping. Further calls, and calls for nil, do nothing.
func (m *Mapping) Unmap() error {
	if m == nil || m.pages == nil {
		return nil
	}
	mappings.Lock()
	delete(mappings.live, m)
	mappings.Unlock()
	pages := m.pages
	m.pages, m.data = nil, nil
	return syscall.Munmap(pages)
}

// Evict gives the pages of the mapping back to the kernel. The next read of a page gets it from the
// file again. It does nothing for nil.
func (m *Mapping) Evict() error {
	if m == nil || m.pages == nil {
		return nil
	}
	return unix.Madvise(m.pages, unix.MADV_DONTNEED)
}

// At returns the name of the mapping that holds addr, and whether there is one.
func At(addr uintptr) (name string, ok bool) {
	mappings.Lock()
	defer mappings.Unlock()
	for m := range mappings.live {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m.pages)))
		if addr >= start && addr-start < uintptr(len(m.pages)) {
			return m.name, true
		}
	}
	return "", false
}

// ErrFault is wrapped by the error of a read that faulted: the mapped file was truncated, or
// its medium failed.
var ErrFault = errors.New("the mapped file was truncated or cannot be read")

// Guard calls fn and returns its error. If fn, on the calling goroutine, faults on a mapped
// file, Guard stops fn and returns an error that wraps [ErrFault]. Deferred calls of fn run;
// locks without a deferred unlock stay locked. Every other panic passes through. Guards may
// be nested, and cost a few nanoseconds.
func Guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			err = faultError(r)
		}
	}()
	return fn()
}

// faultError returns the error for a recovered fault in a live mapping, and
// panics again with everything else.
func faultError(r any) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if name, ok := At(fault.Addr()); ok {
			return fmt.Errorf("%s: %w", name, ErrFault)
		}
	}
	panic(r)
}
