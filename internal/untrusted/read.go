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

// ReadFile reads the regular file that [Open] opens, of at most limit bytes. The
// error of a larger one is an *fs.PathError, too.
func ReadFile(root, name string, limit int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadNamed reads what [OpenInput] opens, of at most limit bytes.
func ReadNamed(name string, limit int64) ([]byte, error) {
	f, err := OpenInput(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads a file from its position to its end, of at most limit bytes, also if it
// grows meanwhile.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAll(f, info.Size(), limit)
}

// readAll reads a file that had a size.
func readAll(f *os.File, size, limit int64) (data []byte, err error) {
	if size <= limit {
		// One byte more, to find the end with.
		buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		size, err = buffer.ReadFrom(io.LimitReader(f, limit+1))
		data = buffer.Bytes()
	}
	if err == nil && size > limit {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("the file has %d bytes or more, at most %d are read", size, limit)}
	}
	return data, err
}

// Budget is how many more bytes of files may be read: a bound on what all files of
// a target take together. It is not safe for concurrent use.
type Budget int64

// Read reads a regular file from its start, as far as it is stored without a hole and
// as the budget goes; a program may be writing it still. Where that is not all of the
// file, what was read comes with an error that says so. The file stays open.
func (left *Budget) Read(f *os.File) ([]byte, fs.FileInfo, error) {
	data, _, info, err := left.read(f, math.MaxInt64)
	return data, info, err
}

// ReadEnd reads as Read does, but of what Read reads only the last bytes, most at most,
// which begin at offset start of the file.
func (left *Budget) ReadEnd(f *os.File, most int64) (data []byte, start int64, err error) {
	data, start, _, err = left.read(f, most)
	return data, start, err
}

func (left *Budget) read(f *os.File, most int64) (data []byte, start int64, info fs.FileInfo, err error) {
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
			size, why = hole, "nothing was written after"
		}
	}
	if size > most {
		start, size, which, why = size-most, most, "last", "no more of such a file is read"
	}
	if size > int64(*left) {
		size, why = max(int64(*left), 0), "the files of the program have more bytes than are read of them"
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
