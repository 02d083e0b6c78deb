// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

// Memory reads the memory of what is unwound.
type Memory interface {
	// ReadMemory fills p with the bytes at addr. It returns an error, and p is
	// then undefined, where not all of them can be read. It keeps no
	// reference to p.
	ReadMemory(p []byte, addr uint64) error
}
