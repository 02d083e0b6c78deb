// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"fmt"
	"slices"
	"sync"
)

// template has the thread-local variables of a program.
type template struct {
	sections []*section
	align    uint64
	start    uint64 // of the image from the start of the program's memory
	size     uint64
	offset   int64 // of the variables from the thread pointer
}

func (t *template) add(s *section) {
	t.sections = append(t.sections, s)
	t.align = max(t.align, s.align)
}

// offsetOf returns the offset from the thread pointer of a variable. address is the variable's address
// in the template.
func (t *template) offsetOf(address, base uint64) uint64 {
	return address - (base + t.start) + uint64(t.offset)
}

// threadOffsets are the offsets from the thread pointer of the programs in this process.
var threadOffsets offsets

// offsets are the ranges of [0, TLSBlock) in use, in ascending order.
type offsets struct {
	mu   sync.Mutex
	used []Range
}

// reserve returns the start of a free range of size bytes at or after an offset.
func (o *offsets) reserve(after, size, align uint64) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, i := roundUp(after, align), 0
	for ; i < len(o.used) && at+size > o.used[i].Start; i++ {
		at = roundUp(max(at, o.used[i].End), align)
	}
	if at+size > TLSBlock {
		return 0, fmt.Errorf("%w: %d bytes of thread-local variables (all programs share %d)", errTooLarge, size, TLSBlock)
	}
	o.used = slices.Insert(o.used, i, Range{at, at + size})
	return at, nil
}

// free frees the range that starts at an offset.
func (o *offsets) free(start uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.used = slices.DeleteFunc(o.used, func(r Range) bool { return r.Start == start })
}
