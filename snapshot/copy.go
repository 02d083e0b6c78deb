// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import "github.com/clewdev/clew/cfi"

// Copy is a part of a target's memory as it was at one moment.
type Copy struct {
	Address uint64
	Bytes   []byte
}

// BatchMemory is memory that reads many places with fewer calls of the kernel than
// there are places.
type BatchMemory interface {
	cfi.Memory

	// ReadBatch fills the bytes of copies; where one cannot be read to its end it
	// sets them to nil.
	ReadBatch([]Copy)
}

// ReadBatch fills the bytes of copies from memory, in one go where that can; those
// that cannot be read to their end are set to nil.
func ReadBatch(mem cfi.Memory, batch []Copy) {
	if m, ok := mem.(BatchMemory); ok {
		m.ReadBatch(batch)
		return
	}
	for i := range batch {
		if mem.ReadMemory(batch[i].Bytes, batch[i].Address) != nil {
			batch[i].Bytes = nil
		}
	}
}
