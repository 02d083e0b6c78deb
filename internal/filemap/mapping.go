// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package filemap

import (
	"fmt"
	"math"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Mapping is a read-only mapping of a part of a file.
type Mapping struct {
	pages []byte // what is mapped
	data  []byte // what of it was asked for
	name  string
}

var mappings struct {
	sync.Mutex
	live map[*Mapping]struct{}
}

// Map maps length bytes of f from offset on. f stays the caller's and may be
// closed at once; name is what [Guard] calls it. What lies after the end of the
// file faults.
func Map(f *os.File, name string, offset, length int64) (*Mapping, error) {
	lead := offset % int64(os.Getpagesize())
	switch {
	case offset < 0 || length < 0 || length > math.MaxInt-lead:
		return nil, fmt.Errorf("%s: %d bytes at %#x cannot be mapped", name, length, offset)
	case length == 0:
		return &Mapping{name: name}, nil
	}
	// MAP_PRIVATE or MAP_SHARED makes no difference to truncation: either faults
	// beyond the new end.
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

// Bytes returns what was asked for. It faults after Unmap.
func (m *Mapping) Bytes() []byte { return m.data }

// Unmap ends the mapping. It may be called again, and of nil.
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
