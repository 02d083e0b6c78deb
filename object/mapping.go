// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"
)

// ErrFault is wrapped by the error of a read of a mapped file whose bytes are
// gone: the file was truncated, or its medium failed.
var ErrFault = errors.New("the mapped file was truncated or cannot be read")

// mapping is a read-only mapping of a whole file.
type mapping struct {
	data []byte
	name string
}

// mappings are the live mappings: Guard must not mistake a fault elsewhere,
// which is a bug, for a truncated file.
var mappings struct {
	sync.Mutex
	live map[*mapping]struct{}
}

// mapFile maps f, which may be closed afterwards. MAP_PRIVATE or MAP_SHARED
// makes no difference to truncation: either faults beyond the new end.
func mapFile(f *os.File, name string) (*mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	size := info.Size()
	if size == 0 {
		return &mapping{name: name}, nil
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%s: %d bytes are too many to map", name, size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", name, err)
	}
	m := &mapping{data: data, name: name}
	mappings.Lock()
	if mappings.live == nil {
		mappings.live = make(map[*mapping]struct{})
	}
	mappings.live[m] = struct{}{}
	mappings.Unlock()
	return m, nil
}

func (m *mapping) unmap() error {
	if m == nil || m.data == nil {
		return nil
	}
	mappings.Lock()
	delete(mappings.live, m)
	mappings.Unlock()
	data := m.data
	m.data = nil
	return syscall.Munmap(data)
}

// mappingAt returns the name of the live mapping that holds addr.
func mappingAt(addr uintptr) (string, bool) {
	mappings.Lock()
	defer mappings.Unlock()
	for m := range mappings.live {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))
		if addr >= start && addr-start < uintptr(len(m.data)) {
			return m.name, true
		}
	}
	return "", false
}

// Guard calls fn and returns its error. Where fn, on the calling goroutine,
// reads a byte of a mapped file that can no longer be read, Guard stops fn and
// returns an error that wraps [ErrFault]; what fn had locked stays locked
// unless it is unlocked by a defer. Every other panic passes through. Guards
// may be nested; one costs a few nanoseconds.
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
		if name, ok := mappingAt(fault.Addr()); ok {
			return fmt.Errorf("%s: %w", name, ErrFault)
		}
	}
	panic(r)
}
