// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import "sort"

// Region is a sequence of instructions of a procedure, with their effects on the frame.
// Regions must not be changed while they are in use, and may then be shared by procedures and
// used concurrently.
type Region struct {
	// Count is the number of units of code. In the last region it may be negative: the
	// region is then the last -Count units of the procedure. The operations of a region
	// with Count 0 take effect before the next region starts, in the order of the list.
	Count int32

	Ops []Op

	// Next is the following region, nil for the last. Code after the last region keeps the
	// state at its end. So does the code before a region with a negative Count.
	Next *Region
}

// List links regions in their order and returns the first, or nil without regions. The
// last one keeps its Next, so that a tail can be shared.
func List(regions ...*Region) *Region {
	for i := 1; i < len(regions); i++ {
		regions[i-1].Next = regions[i]
	}
	if len(regions) == 0 {
		return nil
	}
	return regions[0]
}

// Procedure is a contiguous piece of code and the regions that describe it:
// libunwind's proc-info.
type Procedure struct {
	Name string // "" if it has none

	// The code is [Start, End). Start may be 0 for a description with neither an Alias
	// nor an Alias to it: its Program does not depend on the code's address.
	Start, End uint64

	Handler uint64 // address of the personality routine, 0 if there is none
	Flags   uint32 // none are defined
	Regions *Region
}

// Table is libunwind's table-info and remote-table-info: code with FDEs as unwind tables,
// and a sorted table of them in the format of .eh_frame_hdr with 4-byte entries.
type Table struct {
	Name string // of the code, "" if it has none

	// SegmentBase is the address to which entries are relative.
	SegmentBase uint64

	// Address is the address of the entries in memory, and Words their size in machine
	// words.
	Address uint64
	Words   uint64

	Entries []TableEntry // by ascending Start
}

// TableEntry is an entry of a Table.
type TableEntry struct {
	// Start is the address of a function, relative to SegmentBase, or in the format
	// IP_OFFSET relative to the start of the code.
	Start int32
	FDE   int32 // address of its FDE, relative to SegmentBase
}

// Find returns the last entry that starts at or before an offset. The offset has the
// same base as the entries' Start.
func (t *Table) Find(offset int64) (TableEntry, bool) {
	n := sort.Search(len(t.Entries), func(i int) bool { return int64(t.Entries[i].Start) > offset })
	if n == 0 {
		return TableEntry{}, false
	}
	return t.Entries[n-1], true
}
