// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import "github.com/clewdev/clew/cfi"

// Copy is a copy of a part of a target's memory, taken at one time.
type Copy struct {
	Address uint64
	Bytes   []byte
}

// BatchMemory is memory that reads many places with fewer system calls than places.
type BatchMemory interface {
	cfi.Memory

	// ReadBatch fills the Bytes of the copies. It sets them to nil for a copy that
	// cannot be read completely.
	ReadBatch([]Copy)
}

// ReadBatch fills the Bytes of the copies from memory. It reads all at once if mem is a
// BatchMemory. It sets the Bytes of a copy to nil if they cannot be read completely.
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
