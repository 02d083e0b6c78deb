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

// ErrContents means that the contents of a file differ from the mapped memory.
var ErrContents = errors.New("the contents differ")

// SamePage compares memory at an address, in a mapping that was never written to, with
// the file's contents at an offset, for Module.Same. It returns false if the memory
// cannot be read, and an error that wraps ErrContents if they differ. In the file's last
// page, memory after the end of the file is zero.
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
