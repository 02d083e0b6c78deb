// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/internal/filemap"
)

// ErrFault is wrapped by the error of a read of a mapped file whose bytes are
// gone: the file was truncated, or its medium failed.
var ErrFault = filemap.ErrFault

// Guard calls fn and returns its error. Where fn, on the calling goroutine,
// reads a byte of a mapped file that can no longer be read, Guard stops fn and
// returns an error that wraps [ErrFault]; what fn had locked stays locked
// unless it is unlocked by a defer. Every other panic passes through. Guards
// may be nested; one costs a few nanoseconds.
func Guard(fn func() error) error { return filemap.Guard(fn) }

// mapFile maps f, which may be closed afterwards. The info is what was true of it before.
func mapFile(f *os.File, name string) (*filemap.Mapping, os.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", name)
	}
	m, err := filemap.Map(f, name, 0, info.Size())
	return m, info, err
}
