// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"debug/elf"
	"fmt"
)

// scan searches Space.Writable for descriptors of non-empty lists, for programs without
// symbols: version 1, a valid action and two pointers, of which the second points to the
// first entry of a list, which has an ELF image. A list whose first symbol file is not
// an ELF image can't be distinguished from other data.
func (r *reader) scan(found func(address uint64)) error {
	const chunk, page = 1 << 18, 1 << 12
	size, step := uint64(r.layout.descriptorSize()), r.layout.pointer
	buffer := make([]byte, chunk)
	left := r.limits.Scan
	for _, s := range r.Writable {
		start := (s.Start + step - 1) &^ (step - 1)
		for start >= s.Start && start < s.End && s.End-start >= size {
			if left < size {
				return fmt.Errorf("the search for %s stopped at its limit of %d bytes, at %#x", DescriptorSymbol, r.limits.Scan-left, start)
			}
			n := min(s.End-start, chunk, left)
			next := start + n
			if next < s.End {
				// A descriptor can cross the border of two pieces.
				next -= size - step
			}
			b := r.read(buffer[:n], start)
			if b == nil {
				// A core may lack pages.
				next = (start | (page - 1)) + 1
				b = r.read(buffer[:min(next-start+size-step, s.End-start, left)], start)
				if b == nil {
					b = r.read(buffer[:min(next-start, s.End-start, left)], start)
				}
			}
			left -= min(next-start, left)
			for at := uint64(0); at+size <= uint64(len(b)); at += step {
				if r.layout.order.Uint32(b[at:]) == Version && r.isDescriptor(b[at:]) {
					found(start + at)
				}
				if r.candidates > maxCandidates {
					return fmt.Errorf("the search for %s stopped at its limit of %d similar places, at %#x", DescriptorSymbol, maxCandidates, start+at)
				}
			}
			if next <= start {
				break
			}
			start = next
		}
	}
	return nil
}

// maxCandidates bounds the number of places that look like descriptors. Each costs a
// read of the memory that its pointers point to.
const maxCandidates = 1 << 20

// read fills b with the memory at an address, or returns nil.
func (r *reader) read(b []byte, address uint64) []byte {
	if r.Memory.ReadMemory(b, address) != nil {
		return nil
	}
	return b
}

// isDescriptor reports whether b starts with the descriptor of a non-empty list. The
// caller has checked its version.
func (r *reader) isDescriptor(b []byte) bool {
	d := r.layout.descriptor(b)
	mask := r.layout.pointer - 1
	// The most recently registered entry may have been freed.
	if d.action > ActionUnregister || d.first == 0 || d.first&mask != 0 || d.relevant&mask != 0 {
		return false
	}
	r.candidates++
	e, err := r.entry(d.first)
	if err != nil || e.previous != 0 || e.symfile == 0 || e.size < elf.EI_NIDENT {
		return false
	}
	var magic [4]byte
	return r.Memory.ReadMemory(magic[:], e.symfile) == nil && string(magic[:]) == elf.ELFMAG
}
