// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// maxSection is the largest distance from a table's first entry of call frame
// information to the end of its last.
const maxSection = 64 << 20

// Section reads the call frame information of a table: the memory from its first entry to
// its last, possibly with other data between them. Offsets in it are relative to its
// Address; FDE finds the FDE of an address. One Section serves all functions of the Info.
// It stays valid while the list does not change.
func (i *Info) Section(m *arch.Machine, memory cfi.Memory) (*cfi.Section, error) {
	if i.Table == nil || len(i.Table.Entries) == 0 {
		return nil, fmt.Errorf("%w: the entry at %#x, of format %v, has no call frame information", ErrList, i.Address, i.Format)
	}
	low, high := uint64(math.MaxUint64), uint64(0)
	for n := range i.Table.Entries {
		fde := i.fde(n)
		start, end, id, err := entry(m, memory, fde)
		if err == nil && id != 0 && id <= start+4 {
			// The CIE pointer is relative to its own address.
			var cieEnd uint64
			_, cieEnd, _, err = entry(m, memory, start+4-id)
			low, high = min(low, start+4-id), max(high, cieEnd)
		}
		if err != nil {
			return nil, fmt.Errorf("the entry at %#x: %w", i.Address, err)
		}
		low, high = min(low, start), max(high, end)
		if high-low > maxSection {
			return nil, fmt.Errorf("%w: the call frame information of the entry at %#x is scattered over %#x bytes", ErrList, i.Address, high-low)
		}
	}
	data := make([]byte, high-low)
	if err := memory.ReadMemory(data, low); err != nil {
		return nil, fmt.Errorf("%w: the call frame information of the entry at %#x: %w", ErrList, i.Address, err)
	}
	return &cfi.Section{Name: fmt.Sprintf("dyn-info at %#x", i.Address), Data: data, Address: low, Machine: m}, nil
}

// FDE decodes the FDE of a run-time address from the Info's Section. The error wraps
// cfi.ErrNoFDE if the table has none for the address.
func (i *Info) FDE(section *cfi.Section, pc uint64, f *cfi.FDE) error {
	base := i.Table.SegmentBase
	if i.Format == IPOffset {
		base = i.Start
	}
	found, ok := i.Table.Find(int64(pc - base))
	if ok && pc >= i.Start && pc < i.End {
		offset := i.Table.SegmentBase + uint64(int64(found.FDE)) - section.Address
		if err := section.FDEAt(offset, f); err != nil {
			return err
		}
		if f.Start <= pc && pc < f.End {
			return nil
		}
	}
	return fmt.Errorf("%w at %#x in the entry at %#x", cfi.ErrNoFDE, pc, i.Address)
}

// fde returns the address of the FDE of a table's entry.
func (i *Info) fde(n int) uint64 {
	return i.Table.SegmentBase + uint64(int64(i.Table.Entries[n].FDE))
}

// entry reads the bounds of an entry of call frame information, and its CIE pointer,
// which is 0 in a CIE.
func entry(m *arch.Machine, memory cfi.Memory, at uint64) (start, end, id uint64, err error) {
	var b [8]byte
	if err := memory.ReadMemory(b[:], at); err != nil {
		return 0, 0, 0, fmt.Errorf("%w: call frame information at %#x: %w", ErrList, at, err)
	}
	// The 12-byte form of the length is for larger sections than memory can contain.
	end = at + 4 + uint64(m.Order.Uint32(b[:]))
	if length := m.Order.Uint32(b[:]); length < 4 || length >= 0xfffffff0 || end < at {
		return 0, 0, 0, fmt.Errorf("%w: call frame information at %#x is %#x bytes long", ErrList, at, length)
	}
	return at, end, uint64(m.Order.Uint32(b[4:])), nil
}
