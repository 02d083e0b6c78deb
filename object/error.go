// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrNotELF is wrapped by the error for a file, or an image in memory, that does not
// start with ELF's magic number: it has another format, and is not a damaged ELF file.
var ErrNotELF = errors.New("not an ELF file")

// named adds the name of the file to an error, or to several that are joined.
func (f *File) named(err error) error {
	if err == nil {
		return nil
	}
	return &fileError{f.name, err}
}

// fileError is an error of a file. Each line of its message starts with the file's name,
// since joined errors are shown one by one.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string {
	start := e.name + ": "
	return start + strings.ReplaceAll(e.err.Error(), "\n", "\n"+start)
}

func (e *fileError) Unwrap() error { return e.err }

// RefusedError says why a file that was found was not used.
type RefusedError struct {
	Path   string // of the file
	Reason string
}

func (e *RefusedError) Error() string { return e.Path + " was not used: " + e.Reason }

// CheckBuildID returns a *[RefusedError] with a path unless the file has the build ID id. An
// id of 20 bytes also matches a longer or shorter ID, because perf cuts an ID to 20 bytes or
// pads it with zeros.
func (f *File) CheckBuildID(path string, id []byte) error {
	have := f.BuildID()
	switch {
	case len(have) == 0:
		return &RefusedError{path, fmt.Sprintf("it has no build ID, and %x is expected", id)}
	case bytes.Equal(have, id):
		return nil
	case len(id) == perfSize && bytes.Equal(bytes.TrimRight(have[:min(len(have), perfSize)], "\x00"), bytes.TrimRight(id, "\x00")):
		return nil
	}
	return &RefusedError{path, fmt.Sprintf("its build ID is %x, and %x is expected", have, id)}
}

// ErrTruncated means that a file ends before its section table, which linkers write last.
var ErrTruncated = errors.New("the file is truncated")

// Whole returns an error that wraps [ErrTruncated] if the file was truncated, so that names and
// tables may be missing.
func (f *File) Whole() error {
	if !f.cut {
		return nil
	}
	return fmt.Errorf("%s: %w", f.name, f.truncated())
}

// CheckWhole returns a [*RefusedError] with a path if the file was truncated: see
// [File.Whole].
func (f *File) CheckWhole(path string) error {
	if !f.cut {
		return nil
	}
	return &RefusedError{path, f.truncated().Error()}
}

func (f *File) truncated() error {
	return fmt.Errorf("%w: it ends at %#x, and its section table begins at %#x", ErrTruncated, len(f.data), f.shoff)
}

// perfSize is BUILD_ID_SIZE of perf.
const perfSize = 20

// problems collects errors, the first few in full.
type problems struct {
	list []error
	more int
}

// add adds an error unless it is nil.
func (p *problems) add(err error) {
	switch {
	case err == nil:
	case len(p.list) < 8:
		p.list = append(p.list, err)
	default:
		p.more++
	}
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.list...)
}
