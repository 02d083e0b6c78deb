// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
)

// ErrSparse is wrapped by the error for a part of a file that would be larger than
// all that is stored of the file.
var ErrSparse = errors.New("the file is sparse")

// spareHoles is how many bytes of holes a part of a file may have at least.
const spareHoles = 1 << 20

// StoredSize returns how many bytes of the file are stored; its holes are not counted,
// as their size costs whoever made the file nothing. It is 0 for an image in memory. A
// limit on what a file may cost follows this size.
func (f *File) StoredSize() uint64 { return f.stored }

// portion returns how many bytes a part of the file can have: all that is stored
// of it, and a little of holes. Of a file without holes it is no restriction.
func (f *File) portion() uint64 { return min(uint64(len(f.data)), f.stored+spareHoles) }

// sparse returns the error for a part that is larger.
func (f *File) sparse() error {
	return fmt.Errorf("%w: it stores %d of its %d bytes", ErrSparse, f.stored, len(f.data))
}

// bytesAt returns up to size bytes of the file from an offset in it, fewer where the file
// ends before or stores less.
func (f *File) bytesAt(off, size uint64) []byte {
	b := f.data[off:]
	return b[:min(size, uint64(len(b)), f.portion())]
}
