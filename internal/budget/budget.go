// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package budget reads files that a watched program wrote, with a bound on what
// all of them take: what they claim to hold costs their writer nothing.
package budget

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// Files is how many bytes of files may be read yet. It is not safe for concurrent
// use.
type Files int64

// Read reads a regular file from its start, which may be written still: up to its
// first hole, and as far as the budget goes. With an error that says that it was
// cut comes what was read. The file stays open.
func (left *Files) Read(f *os.File) ([]byte, fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, errors.New("not a regular file")
	}
	size, why := info.Size(), ""
	if end := hole(f, size); end < size {
		size, why = end, "nothing was written behind"
	}
	if size > int64(*left) {
		size, why = max(int64(*left), 0), "the files of the program have more bytes than are read of them"
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, info, err
	}
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	*left -= Files(n)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return data[:n], info, err
	case why != "":
		return data[:n], info, fmt.Errorf("%s: only the first %d of its %d bytes were read: %s", f.Name(), n, info.Size(), why)
	}
	return data[:n], info, nil
}

const seekHole = 4 // SEEK_HOLE of lseek(2), on Linux and FreeBSD

// hole returns where the first hole of a file begins, or its size where there is
// none, or that cannot be told.
func hole(f *os.File, size int64) int64 {
	if runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
		return size
	}
	at, err := f.Seek(0, seekHole)
	if err != nil {
		return size
	}
	return min(at, size)
}
