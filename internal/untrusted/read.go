// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// ReadFile reads a regular file of at most limit bytes, which it opens with [Open]. All
// errors are *fs.PathErrors, also that for a larger file.
func ReadFile(root, name string, limit int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadNamed reads a file of at most limit bytes, which it opens with [OpenInput].
func ReadNamed(name string, limit int64) ([]byte, error) {
	f, err := OpenInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads a file from its position to its end, at most limit bytes, even if the file
// grows meanwhile.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAll(f, info.Size(), limit)
}

// readAll is ReadAll of a file that had the given size.
func readAll(f *os.File, size, limit int64) (data []byte, err error) {
	if size <= limit {
		// One more byte, to find the end.
		buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		size, err = buffer.ReadFrom(io.LimitReader(f, limit+1))
		data = buffer.Bytes()
	}
	if err == nil && size > limit {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("the file has at least %d bytes, more than the limit of %d", size, limit)}
	}
	return data, err
}

// Budget is the number of bytes that may still be read, of all files of a target together.
// It is not safe for concurrent use.
type Budget int64

// Read reads a regular file from its start up to its first hole, as far as the budget
// permits. A program may still be writing the file. If that is not the whole file, Read
// returns the data and an error. The file stays open.
func (left *Budget) Read(f *os.File) ([]byte, fs.FileInfo, error) {
	data, _, info, err := left.read(f, math.MaxInt64, false)
	return data, info, err
}

// ReadEnd is Read for the last bytes before the first hole: at most limit, and as many as the
// budget permits. They begin at offset start of the file.
func (left *Budget) ReadEnd(f *os.File, limit int64) (data []byte, start int64, err error) {
	data, start, _, err = left.read(f, limit, true)
	return data, start, err
}

func (left *Budget) read(f *os.File, limit int64, end bool) (data []byte, start int64, info fs.FileInfo, err error) {
	if info, err = f.Stat(); err != nil {
		return nil, 0, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, info, ErrNotRegular
	}
	size, which, why := info.Size(), "first", ""
	if data, hole, ok := extent(f, 0); ok {
		if data > 0 {
			hole = 0
		}
		if hole < size {
			size, why = hole, "nothing was written after them"
		}
	}
	if size > limit {
		start, size, which, why = size-limit, limit, "last", "the limit for such a file"
	}
	if rest := max(int64(*left), 0); size > rest {
		if end {
			start, which = start+size-rest, "last"
		}
		size, why = rest, "the limit for all files of the program"
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, 0, info, err
	}
	data = make([]byte, size)
	n, err := io.ReadFull(f, data)
	*left -= Budget(n)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return data[:n], start, info, err
	case why != "":
		return data[:n], start, info, fmt.Errorf("%s: only the %s %d of its %d bytes were read: %s", f.Name(), which, n, info.Size(), why)
	}
	return data[:n], start, info, nil
}
