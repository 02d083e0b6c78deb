// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/cfi"
)

// EHFrame writes the .eh_frame of one function, a CIE and an FDE without a terminator,
// to a buffer, for the size bytes of code from address start on. at is the address of
// the section, which matters if the program's CIE stores relative pointers.
//
// It returns the size of the section in bytes. If buffer is nil, it does nothing else.
// If buffer is too small, it is unchanged and the error wraps io.ErrShortBuffer.
func EHFrame(buffer []byte, p *cfi.Program, start, size, address uint64) (n int, err error) {
	if p == nil || p.CIE == nil || p.CIE.Section == nil {
		return 0, refuse("no program")
	}
	e := cfi.Encoder{Machine: p.CIE.Section.Machine, Address: address}
	if err := e.Program(p, start, size); err != nil {
		return 0, err
	}
	n = len(e.Data)
	if buffer != nil && len(buffer) < n {
		return n, fmt.Errorf("preset: %w: an .eh_frame of %d bytes does not fit a buffer of %d", io.ErrShortBuffer, n, len(buffer))
	}
	copy(buffer, e.Data)
	return n, nil
}

// PerfAddress returns the address at which perf inject puts the .eh_frame of the given
// code: the next multiple of eight bytes after the code.
func PerfAddress(start, size uint64) uint64 { return start + (size+7)&^7 }
