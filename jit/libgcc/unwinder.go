// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

// unwinder is an unwinder in the process. Its functions take addresses of sections or
// FDEs, and are called under the lock of the registry.
type unwinder struct {
	flavour flavour

	// These take addresses of sections. For libgcc, an FDE followed by a terminator
	// is a section.
	register, withdraw func(sections []uintptr)

	// These are LLVM's, for single FDEs.
	registerFDEs, withdrawFDEs func(fdes []uintptr)
}

// flavour is the way an unwinder stores registered sections.
type flavour uint8

const (
	// libgcc up to GCC 12 keeps a list of sections, ordered by their lowest function. It
	// parses them at the first lookup and inserts each into the list: the cost is
	// quadratic in the number of sections. A lookup searches only the section that starts
	// closest below the address, so that sections with overlapping ranges hide functions
	// of each other.
	sectionList flavour = iota

	// libgcc from GCC 13 on keeps a tree of address ranges, by section, and parses a
	// section when it is registered and when it is withdrawn. Overlapping ranges corrupt
	// the tree (unwind-dw2-btree.h: "Assumption that users ensure no overlapping
	// registered ranges"). So a section must be withdrawn before its replacement is
	// registered. This package therefore registers each function as a section and never
	// replaces one; lookups stay logarithmic.
	rangeTree

	// LLVM's libunwind keeps an array of functions, and searches it from the start. A
	// section is only a key for removing all its functions.
	functionArray
)
