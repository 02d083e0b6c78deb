// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build unix

package untrusted

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"syscall"
)

// lseek(2), on Linux and FreeBSD.
const (
	seekData = 3
	seekHole = 4
)

// maxExtents is the maximum number of parts of a file that Stored examines.
const maxExtents = 1 << 12

// Stored returns how many bytes of a regular file are written or allocated, at most its size.
// The rest are holes, which read as zeros and cost nothing. A limit that protects against
// hostile files must use this number, not the size. info is that of the file.
//
// On a file system that compresses, or keeps short files in their inodes, a file can have
// fewer blocks than its size needs and still no hole. So Stored looks for holes if there are
// too few blocks.
func Stored(f *os.File, info fs.FileInfo) int64 {
	size := info.Size()
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !seeksHoles {
		return size
	}
	allocated := int64(math.MaxInt64)
	if blocks := int64(st.Blocks); blocks < math.MaxInt64/512 {
		allocated = 512 * blocks // stat(2): the unit is 512 bytes for any block size
	}
	if allocated >= size {
		return size
	}
	var stored, at int64
	for range maxExtents {
		data, hole, ok := extent(f, at)
		if !ok {
			return min(size, allocated)
		}
		if data >= size {
			return stored
		}
		stored, at = stored+min(hole, size)-data, hole
	}
	return max(stored, allocated)
}

const seeksHoles = runtime.GOOS == "linux" || runtime.GOOS == "freebsd"

// extent returns the offsets of the first data at or after an offset and of the hole after
// it. If there is no more data, both are math.MaxInt64. It restores the position of f.
func extent(f *os.File, at int64) (data, hole int64, ok bool) {
	if !seeksHoles {
		return 0, 0, false
	}
	position, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, 0, false
	}
	defer f.Seek(position, io.SeekStart)
	data, err = f.Seek(at, seekData)
	if isPastEnd(err) {
		return math.MaxInt64, math.MaxInt64, true
	}
	if err != nil {
		return 0, 0, false
	}
	hole, err = f.Seek(data, seekHole)
	if isPastEnd(err) {
		return math.MaxInt64, math.MaxInt64, true // it was truncated
	}
	return data, hole, err == nil && hole > data
}

// isPastEnd reports whether lseek(2) found no more data.
func isPastEnd(err error) bool { return errors.Is(err, syscall.ENXIO) }
