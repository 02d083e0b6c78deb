// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"debug/elf"
	"fmt"
)

// scan searches Space.Writable for descriptors that hold a list, as a program
// without symbols has them: version 1, an action there is, two pointers, and the
// second leads to an entry that is the first of its list and has an ELF image. A
// list whose first symbol file is not an ELF image can't be distinguished from other data.
func (r *reader) scan(found func(address uint64)) error {
	const chunk, page = 1 << 18, 1 << 12
	size, step := uint64(r.layout.descriptorSize()), r.layout.pointer
	buffer := make([]byte, chunk)
	left := r.limits.Scan
	for _, s := range r.Writable {
		start := (s.Start + step - 1) &^ (step - 1)
		for start >= s.Start && start < s.End && s.End-start >= size {
			if left < size {
				return fmt.Errorf("the search for %s was cut after %d bytes, at %#x", DescriptorSymbol, r.limits.Scan-left, start)
			}
			n := min(s.End-start, chunk, left)
			next := start + n
			if next < s.End {
				// One can lie across the border.
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
					return fmt.Errorf("the search for %s was cut after %d places that look like it, at %#x", DescriptorSymbol, maxCandidates, start+at)
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

// maxCandidates bounds how many places the search takes for descriptors before
// it has looked where their pointers lead, which costs a read of memory each.
const maxCandidates = 1 << 20

// read fills b with what is at an address, or returns nil.
func (r *reader) read(b []byte, address uint64) []byte {
	if r.Memory.ReadMemory(b, address) != nil {
		return nil
	}
	return b
}

// isDescriptor reports whether b starts with a descriptor of a list that is not
// empty; its version is right.
func (r *reader) isDescriptor(b []byte) bool {
	d := r.layout.descriptor(b)
	mask := r.layout.pointer - 1
	// What was registered last may be freed by now.
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
