// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

// unwinder is one unwinder in the process. Its functions take addresses of
// sections, or of FDEs, and are called under the lock of the registry.
type unwinder struct {
	flavour flavour

	// With the addresses of sections; libgcc takes an FDE with a terminator
	// after it for a section.
	register, withdraw func(sections []uintptr)

	// LLVM's, for single FDEs.
	registerFDEs, withdrawFDEs func(fdes []uintptr)
}

// flavour is the way in which an unwinder stores registered sections.
type flavour uint8

const (
	// libgcc up to GCC 12 keeps a list of sections, ordered by their lowest
	// function, and parses them at the first lookup, each of which inserts into
	// the list: the cost is quadratic in the sections. A lookup looks into the
	// one section that starts at or closest below the address, so that sections
	// whose ranges overlap hide functions of each other.
	sectionList flavour = iota

	// libgcc from GCC 13 on keeps a tree of address ranges, by section, and
	// parses a section when it is registered and when it is withdrawn. Ranges
	// that overlap corrupt the tree (unwind-dw2-btree.h: "Assumption that users
	// ensure no overlapping registered ranges"), and so a section that is to
	// take another's place cannot be known before that one is withdrawn. Each
	// function is a section here: lookups stay logarithmic, no section is ever
	// replaced.
	rangeTree

	// LLVM's libunwind keeps an array of functions, and searches it from the
	// start. A section is but a key under which all its functions are removed.
	functionArray
)
