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

// maxExtents bounds how many parts of a file are looked at.
const maxExtents = 1 << 12

// Stored returns how many bytes of a regular file are stored, at most its size: what
// somebody wrote or at least allocated. The rest are holes, which read as zeros and
// cost nothing, so a limit that guards against hostile files must follow this figure,
// not the size. info is the file's.
//
// A file on a file system that compresses, or that keeps short files in their inodes,
// has fewer blocks than its size needs and still no hole; so where blocks are missing
// the file is asked for its holes.
func Stored(f *os.File, info fs.FileInfo) int64 {
	size := info.Size()
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !seeksHoles {
		return size
	}
	allocated := int64(math.MaxInt64)
	if blocks := int64(st.Blocks); blocks < math.MaxInt64/512 {
		allocated = 512 * blocks // stat(2): whatever the block size is
	}
	if allocated >= size {
		return size
	}
	stored := int64(0)
	at := int64(0)
	for range maxExtents {
		data, hole, ok := extent(f, at)
		if !ok {
			return min(size, allocated)
		}
		if data >= size {
			return stored
		}
		stored += min(hole, size) - data
		at = hole
		if at >= size {
			return stored
		}
	}
	return max(stored, allocated)
}

const seeksHoles = runtime.GOOS == "linux" || runtime.GOOS == "freebsd"

// extent returns where the first data at or after an offset begins and ends. Without
// more data it begins at math.MaxInt64. It leaves the position of f as it was.
func extent(f *os.File, at int64) (data, hole int64, ok bool) {
	if !seeksHoles {
		return 0, 0, false
	}
	before, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, 0, false
	}
	defer f.Seek(before, io.SeekStart)
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

// isPastEnd reports whether there was no data left to find (lseek(2)).
func isPastEnd(err error) bool { return errors.Is(err, syscall.ENXIO) }
