// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"bytes"
	"debug/elf"
)

// Entries of the auxiliary vector, include/uapi/linux/auxvec.h.
const (
	atPHDR        = 3
	atPHNum       = 5
	atPageSize    = 6
	atBase        = 7
	atEntry       = 9
	atExecFn      = 31
	atSysInfoEHdr = 33
)

// MaxAuxv bounds the size of an auxiliary vector, in bytes. The kernel's has some twenty
// entries.
const MaxAuxv = 4 << 10

// ReadAuxv reads an auxiliary vector.
func (d *Dump) ReadAuxv(b []byte) {
	size := d.WordSize()
	d.Auxv = make(map[uint64]uint64)
	for b = b[:min(len(b), MaxAuxv)]; len(b) >= 2*size; b = b[2*size:] {
		if key := d.Word(b); key != 0 {
			d.Auxv[key] = d.Word(b[size:])
		}
	}
}

// Word reads a word of the dump's machine.
func (d *Dump) Word(b []byte) uint64 {
	if d.Machine.Class == elf.ELFCLASS64 {
		return d.Machine.Order.Uint64(b)
	}
	return uint64(d.Machine.Order.Uint32(b))
}

// WordSize returns the size of a word in bytes.
func (d *Dump) WordSize() int {
	if d.Machine.Class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// CString returns the bytes before the first NUL.
func CString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
