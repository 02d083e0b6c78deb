// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"bytes"
	"errors"
	"os"

	"github.com/clewdev/clew/cfi"
)

// ErrContents says that a file does not hold what was mapped.
var ErrContents = errors.New("the contents differ")

// SamePage compares the memory at an address, of a mapping that nobody has written
// to, with what a file has at an offset, for Module.Same. It reports false where
// the memory cannot be read, and wraps ErrContents where the two differ. What lies
// after the file's end in its last page is zero.
func SamePage(memory cfi.Memory, address uint64, f *os.File, offset int64, size int) (same bool, err error) {
	mapped, stored := make([]byte, size), make([]byte, size)
	if memory.ReadMemory(mapped, address) != nil {
		return false, nil
	}
	if n, err := f.ReadAt(stored, offset); n == 0 {
		return false, err
	}
	if !bytes.Equal(mapped, stored) {
		return false, ErrContents
	}
	return true, nil
}
